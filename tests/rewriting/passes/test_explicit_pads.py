"""explicit-pads: what it rewrites, and every reason to leave a node alone."""

import pytest

from onnxpad.padding.chain import Skip
from onnxpad.rewriting.steps.run_time_pads import RUN_TIME
from tests.models.tiny import attributes, done, kinds, left_alone, refused, rewritten, tiny

RULE = "explicit-pads"
BATCH = "float[1,1,H,8]"
SQUARE = "float[1,1,2,2] w = {1, 10, 100, 1000}"

# What it shows: the node, its input, opset, constants, and what is written then.
rewrites = {
    "VALID pads with nothing": (
        'Conv <auto_pad = "VALID"> (x, w)',
        "float[1,1,5]",
        17,
        "",
        {"pads": [0, 0]},
    ),
    "an odd total has its larger half at the end": (
        'Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)',
        "float[1,1,6]",
        7,
        "",
        {"pads": [0, 1], "strides": [2]},
    ),
    "SAME_LOWER has it at the begin": (
        'Conv <auto_pad = "SAME_LOWER", strides = [2]> (x, w)',
        "float[1,1,6]",
        7,
        "",
        {"pads": [1, 0], "strides": [2]},
    ),
    "a dilated kernel counts with its span": (
        'MaxPool <kernel_shape = [3], dilations = [3], strides = [3], auto_pad = "SAME_UPPER"> (x)',
        "float[1,1,9]",
        22,
        "",
        {"kernel_shape": [3], "dilations": [3], "strides": [3], "pads": [2, 2]},
    ),
    "each axis for itself, one of any size": (
        'Conv <auto_pad = "SAME_UPPER", strides = [1, 3]> (x, w)',
        BATCH,
        22,
        SQUARE,
        {"pads": [0, 0, 1, 0], "strides": [1, 3]},
    ),
    "a size that does not matter": (
        'Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, w)',
        BATCH,
        22,
        SQUARE,
        {"pads": [0, 0, 1, 0], "strides": [2, 2]},
    ),
    "SAME needs no ceil_mode": (
        'LpPool <kernel_shape = [2], strides = [2], ceil_mode = 1, auto_pad = "SAME_LOWER"> (x)',
        "float[1,1,5]",
        22,
        "",
        {"kernel_shape": [2], "strides": [2], "pads": [1, 0]},
    ),
    "VALID keeps ceil_mode": (
        'LpPool <kernel_shape = [2], strides = [2], ceil_mode = 1, auto_pad = "VALID"> (x)',
        "float[1,1,5]",
        18,
        "",
        {"kernel_shape": [2], "strides": [2], "ceil_mode": 1, "pads": [0, 0]},
    ),
    "an operator of com.microsoft": (
        'com.microsoft.FusedConv <activation = "Relu", auto_pad = "SAME_UPPER"> (x, w)',
        "float[1,1,5]",
        17,
        "",
        {"activation": "Relu", "pads": [1, 1]},
    ),
}


@pytest.mark.parametrize("row", rewrites.values(), ids=rewrites)
def test_rewrites(row: tuple[str, str, int, str, dict[str, object]]) -> None:
    call, x, opset, constants, written = row
    after = rewritten(tiny(f"[op] y = {call}", x, opset=opset, constants=constants), RULE)
    assert attributes(after) == written
    assert len(kinds(after)) == 1


AROUND = "int64[6] p = {0, 0, 1, 0, 0, 1}"
COUNTING = 'AveragePool <kernel_shape = [3], auto_pad = "SAME_UPPER", count_include_pad = 1'
POOL = 'AveragePool <kernel_shape = [2], auto_pad = "VALID"'

BOTH = (
    "auto_pad=SAME_LOWER and pads=[1, 1] contradict each other, runtimes differ in which one wins"
)
COUNTED = """u = NonZero (x) c = Cast <to = 1> (u) r = Unsqueeze (c, one)
    [op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (r, k)"""
NO_SIZE = (
    "SAME_UPPER with kernel 3 needs the size of axis 2 (which nothing in the model tells, stride 2)"
)
TWO_SIZES = (
    "SAME_LOWER with kernel 2,2 needs the sizes of axes 2 (which is 'H', stride 2) "
    "and 3 (which is 'W', stride 3)"
)

# Why: the nodes, their input, constants, the reason, and what else to try.
leaves_alone = {
    "the size matters and is only a name": (
        '[op] y = Conv <auto_pad = "SAME_UPPER", strides = [4]> (x, w)',
        "float[1,1,H]",
        "",
        "SAME_UPPER with kernel 3 needs the size of axis 2 (which is 'H', stride 4)",
        ("--dim 'H=640'", "--dim 'H%4=0'", RUN_TIME),
    ),
    "two sizes matter": (
        '[op] y = Conv <auto_pad = "SAME_LOWER", strides = [2, 3]> (x, w)',
        "float[1,1,H,W]",
        SQUARE,
        TWO_SIZES,
        ("--dim 'H=640' --dim 'W=639'", "--dim 'H%2=0' --dim 'W%3=0'", RUN_TIME),
    ),
    "the size comes from nowhere": (
        COUNTED,
        "float[1,1,5]",
        "int64[1] one = {0}, float[1,3,3] k = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
        NO_SIZE,
        ("give the model's inputs fixed sizes", RUN_TIME),
    ),
    "no window fits": (
        '[op] y = Conv <auto_pad = "VALID"> (x, w)',
        "float[1,1,2]",
        "",
        "axis 2 has 2 cells, with pads 0,0 fewer than the window's 3",
        (),
    ),
    "pads and auto_pad": (
        '[op] y = Conv <auto_pad = "SAME_LOWER", pads = [1, 1]> (x, w)',
        "float[1,1,5]",
        "",
        BOTH,
        ("--ambiguous auto_pad", "--ambiguous pads"),
    ),
    "a value that nobody knows": (
        '[op] y = Conv <auto_pad = "SAME"> (x, w)',
        "float[1,1,5]",
        "",
        "auto_pad is 'SAME', which ONNX does not have: SAME_UPPER, SAME_LOWER, VALID or NOTSET",
        (),
    ),
    "a pool cannot pad as wide as its kernel": (
        '[op] y = MaxPool <kernel_shape = [2], dilations = [3], auto_pad = "SAME_LOWER"> (x)',
        "float[1,1,5]",
        "",
        (
            "written like that, pads=[2, 1] reach the kernel [2]: "
            "onnxruntime refuses to load such a pool"
        ),
        ("--pass split-pads",),
    ),
    "auto_pad keeps Pad(0) and MaxPool apart": (
        'a = Pad (x, p) [op] y = MaxPool <kernel_shape = [3], auto_pad = "VALID"> (a)',
        "float[1,1,5]",
        AROUND,
        "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly",
        ("--pass absorb-pad",),
    ),
    "auto_pad keeps a wide Pad(0) and an average apart": (
        f"a = Pad (x, p) [op] y = {POOL}> (a)",
        "float[1,1,5]",
        "int64[6] p = {0, 0, 0, 0, 0, 2}",
        "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly",
        ("--pass absorb-pad",),
    ),
    "auto_pad keeps the last window of ceil_mode": (
        f"a = Pad (x, p) [op] y = {POOL}, strides = [3], ceil_mode = 1> (a)",
        "float[1,1,3]",
        "int64[6] p = {0, 0, 0, 0, 0, 1}",
        "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly",
        ("--pass absorb-pad",),
    ),
    "both pads together reach the kernel": (
        f"a = Pad (x, p) [op] y = {COUNTING}> (a)",
        "float[1,1,5]",
        "int64[6] p = {0, 0, 2, 0, 0, 0}",
        "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly",
        ("--pass absorb-pad",),
    ),
    "a transposed convolution crops": (
        '[op] y = ConvTranspose <auto_pad = "SAME_UPPER", strides = [2]> (x, w)',
        "float[1,1,5]",
        "",
        "a transposed convolution crops; its auto_pad is not a matter of this pass",
        ("--pass plain-transpose",),
    ),
    "the kernel is not known": (
        '[op] y = Conv <auto_pad = "SAME_UPPER"> (x, k)',
        "float[1,1,5]",
        "",
        "no kernel_shape, and the weight's shape is not known",
        (),
    ),
}


@pytest.mark.parametrize("row", leaves_alone.values(), ids=leaves_alone)
def test_leaves_alone(row: tuple[str, str, str, str, tuple[str, ...]]) -> None:
    body, x, constants, reason, hints = row
    inputs = "float[] k" if "(x, k)" in body else ""
    skip = refused(tiny(body, x, constants=constants, opset=18, inputs=inputs), RULE)
    assert skip == Skip(reason, hints)


@pytest.mark.parametrize(
    ("called", "reason"),
    [(True, "a call does not give its attribute 'k'"), (False, "nothing calls it")],
)
def test_a_function_whose_attributes_nobody_gives(*, called: bool, reason: str) -> None:
    model = tiny("y = local.f (x)" if called else "y = Relu (x)")
    model.opset_import.add(domain="local", version=1)
    same = model.functions.add(domain="local", name="f", input=["v"], output=["r"])
    same.opset_import.add(domain="", version=17)
    node = same.node.add(op_type="MaxPool", name="op", input=["v"], output=["r"])
    node.attribute.add(name="kernel_shape", ref_attr_name="k", type=7)
    same.attribute.append("k")
    found = done(model, RULE)
    assert not found.changed
    (skip,) = found.skips
    assert skip.skip.reason.endswith(f"that is not written out where it is called: {reason}")


nothing_to_do = {
    "pads are written": "[op] y = Conv <pads = [1, 1]> (x, w)",
    "NOTSET": '[op] y = Conv <auto_pad = "NOTSET", pads = [1, 1]> (x, w)',
    "an empty auto_pad": '[op] y = Conv <auto_pad = "", pads = [1, 1]> (x, w)',
    "neither": "[op] y = Conv (x, w)",
    "a Pad alone": "[op] y = Pad (x, q)",
}


@pytest.mark.parametrize("body", nothing_to_do.values(), ids=nothing_to_do)
def test_nothing_to_do(body: str) -> None:
    assert left_alone(tiny(body, constants="int64[6] q = {0, 0, 1, 0, 0, 1}"), RULE)
