"""absorb-pad: what it rewrites, and every reason to leave a node alone."""

from typing import Any

import pytest

from onnxpad.padding.chain import Skip
from tests.models.tiny import attributes, kinds, left_alone, refused, rewritten, tiny

RULE = "absorb-pad"
PAD, VALUE = "Pad (x, p)", "Pad (x, p, c)"
ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"
INTEGERS = f"uint8[1,1,3] k = {{1, 2, 3}}, uint8 zero = {{7}}, {ONE_EACH}"
POOLED = {"kernel_shape": [3], "pads": [1, 1]}
CONV, MAX, AVERAGE = "Conv (a, w)", "MaxPool <kernel_shape = [3]> (a)", "AveragePool <{}> (a)"


def row(
    why: str,
    pad: str,
    call: str,
    expected: object,
    *,
    dtype: str = "float",
    opset: int = 17,
    constants: str = ONE_EACH,
) -> Any:
    """One line of a table: the Pad `a`, the operator that reads it, and what comes of it."""
    result = "int32" if "ConvInteger" in call else dtype
    more = "q = Pow (p, p) " if "(x, q" in pad else ""
    model = tiny(
        f"{more}a = {pad} [op] y = {call}",
        f"{dtype}[1,1,6]",
        opset=opset,
        constants=constants,
        result=f"{result}[]",
    )
    return pytest.param(model, expected, id=why)


rewrites = [
    row("0 before a convolution", PAD, CONV, {"pads": [1, 1]}),
    row("pads add up", PAD, "Conv <pads = [2, 0]> (a, w)", {"pads": [3, 1]}),
    row(
        "SAME is that of the padded size",
        PAD,
        'Conv <auto_pad = "SAME_UPPER", strides = [3]> (a, w)',
        {"pads": [1, 2], "strides": [3]},
        constants="int64[6] p = {0, 0, 0, 0, 0, 1}",
    ),
    row("VALID", PAD, 'Conv <auto_pad = "VALID"> (a, w)', {"pads": [1, 1]}),
    row(
        "an attribute before opset 11",
        "Pad <pads = [0, 0, 1, 0, 0, 2]> (x)",
        CONV,
        {"pads": [1, 2]},
        opset=9,
        constants="",
    ),
    row(
        "axes",
        "Pad (x, p, , axes)",
        CONV,
        {"pads": [0, 2]},
        opset=18,
        constants="int64[2] p = {0, 2}, int64[1] axes = {-1}",
    ),
    row(
        "the lowest value before a max pool",
        VALUE,
        MAX,
        POOLED,
        constants=f"{ONE_EACH}, float c = {{-inf}}",
    ),
    row(
        "-128 before a max pool of bytes",
        VALUE,
        MAX,
        POOLED,
        dtype="int8",
        constants=f"{ONE_EACH}, int8 c = {{-128}}",
    ),
    row("0 before a max pool of unsigned bytes", PAD, MAX, POOLED, dtype="uint8"),
    row(
        "an average counts the cells of the Pad",
        PAD,
        AVERAGE.format("kernel_shape = [3]"),
        {"kernel_shape": [3], "pads": [1, 1], "count_include_pad": 1},
    ),
    row(
        "an average that counts already",
        PAD,
        AVERAGE.format("kernel_shape = [3], count_include_pad = 1, pads = [1, 0]"),
        {"kernel_shape": [3], "count_include_pad": 1, "pads": [2, 1]},
    ),
    row(
        "ceil_mode with the same windows",
        PAD,
        "LpPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (a)",
        {"kernel_shape": [3], "strides": [2], "ceil_mode": 1, "pads": [1, 1]},
        opset=18,
    ),
    row(
        "the zero point by its value",
        VALUE,
        "ConvInteger (a, k, zero)",
        {"pads": [1, 1]},
        dtype="uint8",
        constants=f"{INTEGERS}, uint8 c = {{7}}",
    ),
    row(
        "the zero point by its name",
        "Pad (x, p, zero)",
        "ConvInteger (a, k, zero)",
        {"pads": [1, 1]},
        dtype="uint8",
        constants=INTEGERS,
    ),
    row(
        "a Pad that pads nothing, whatever its mode",
        'Pad <mode = "edge"> (x, p)',
        'Conv <auto_pad = "SAME_UPPER"> (a, w)',
        {"auto_pad": "SAME_UPPER"},
        constants="int64[6] p = {0, 0, 0, 0, 0, 0}",
    ),
]


@pytest.mark.parametrize(("model", "written"), rewrites)
def test_rewrites(model: Any, written: dict[str, object]) -> None:
    after = rewritten(model, RULE)
    assert len(kinds(after)) == 1
    assert attributes(after) == written


HALF = f"{ONE_EACH}, float c = {{0.5}}"
MASK = f"{ONE_EACH}, int32[1,1,8] m = {{1, 1, 1, 1, 1, 1, 1, 1}}"
WIDE = "kernel_shape = [3], count_include_pad = 1, pads = [2, 0]"
LAST = "kernel_shape = [3], strides = [7], ceil_mode = 1"

leaves_alone = [
    row("another value", VALUE, CONV, "the Pad writes 0.5, Conv pads with 0", constants=HALF),
    row("0 before a max pool", PAD, MAX, "the Pad writes 0, MaxPool pads with the lowest value"),
    row(
        "mode",
        'Pad <mode = "edge"> (x, p)',
        CONV,
        "the Pad has mode 'edge', an operator pads with a constant",
    ),
    row(
        "batch",
        PAD,
        CONV,
        Skip("the Pad pads the batch or channel axis", ("--pass spatial-pads",)),
        constants="int64[6] p = {1, 0, 0, 0, 0, 0}",
    ),
    row(
        "it crops",
        PAD,
        CONV,
        Skip("the Pad has negative pads and crops", ("--pass plain-pad",)),
        constants="int64[6] p = {0, 0, -1, 0, 0, 1}",
    ),
    row(
        "computed pads",
        "Pad (x, q)",
        CONV,
        "the Pad's pads are computed while the model runs (by Pow)",
    ),
    row(
        "the operator crops",
        PAD,
        "Conv <pads = [0, -1]> (a, w)",
        "the operator has negative pads of its own",
    ),
    row(
        "no window fits",
        PAD,
        "Conv <dilations = [5]> (a, w)",
        "axis 2 has 8 cells, with pads 0,0 fewer than the window's 11",
    ),
    row(
        "a transposed convolution crops",
        PAD,
        "ConvTranspose (a, w)",
        "the Pad adds more cells than its pads [0, 0] crop",
    ),
    row(
        "the mask is padded too",
        PAD,
        "com.microsoft.MaxpoolWithMask <kernel_shape = [3]> (a, m)",
        "MaxpoolWithMask has an input that depends on its own padding",
        constants=MASK,
    ),
    row(
        "own padding is not counted",
        PAD,
        AVERAGE.format("kernel_shape = [3], pads = [0, 1]"),
        "the average counts the cells of the Pad, but not its own padding",
    ),
    row(
        "nothing can be counted",
        "Pad <pads = [0, 0, 1, 0, 0, 1]> (x)",
        AVERAGE.format("kernel_shape = [3]"),
        "AveragePool of opset 6 has no count_include_pad",
        opset=6,
        constants="",
    ),
    row(
        "as wide as the kernel",
        PAD,
        AVERAGE.format(WIDE),
        "written like that, pads=[3, 1] reach the kernel [3]: onnxruntime refuses to load such a "
        "pool",
    ),
    row(
        "a window over the Pad",
        PAD,
        AVERAGE.format(LAST),
        "ceil_mode would drop the last window, which the Pad keeps",
    ),
]


@pytest.mark.parametrize(("model", "reason"), leaves_alone)
def test_leaves_alone(model: Any, reason: str | Skip) -> None:
    assert refused(model, RULE) == (Skip(reason) if isinstance(reason, str) else reason)


def test_leaves_alone_what_needs_a_size() -> None:
    body = 'a = Pad (x, p) [op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (a, w)'
    skip = refused(tiny(body, "float[1,1,H]", constants=ONE_EACH), RULE)
    assert skip.reason.endswith("needs the size of axis 2 (which is 'H+2', stride 2)")


def test_leaves_alone_a_quantised_average() -> None:
    call = "com.microsoft.QLinearAveragePool <kernel_shape = [3, 3]> (a, s, z, s, z)"
    constants = "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float s = {1}, uint8 z = {7}"
    body = f"a = Pad (x, p, z) [op] y = {call}"
    model = tiny(body, "uint8[1,1,4,4]", constants=constants, result="uint8[]")
    assert refused(model, RULE).reason == (
        "the average does not count padded cells, and 0 need not be its zero point"
    )


def test_nothing_to_do() -> None:
    for body in ("[op] y = Conv <pads = [1, 1]> (x, w)", "[op] y = Pad (x, p)"):
        assert left_alone(tiny(body, constants=ONE_EACH), RULE)
