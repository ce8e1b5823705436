"""Ways to write the crop of transposed convolutions; rows 16 to 24 of the tricky cases."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.random import Generator
from onnx import helper, numpy_helper

from onnxpad.model.editing.session import EditSession
from onnxpad.padding.forms import Form, forms_of
from onnxpad.rewriting.passes import find_pass
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    attributes,
    by_onnxruntime,
    constant,
    done,
    kinds,
    left_alone,
    numbers,
    refused,
    rewritten,
    tiny,
    values,
)
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran
from tests.rewriting.passes.expanded import Array, agrees, is_valid

X3 = numbers(1, 2, 3)
PLAIN, CROP = "plain-transpose", "slice-transpose"
SYMMETRIC, BY_SLICE, BY_KERNEL = (f"symmetric-pads{way}" for way in ("", "-by-slice", "-by-kernel"))
MORE_BY_KERNEL, MORE_BY_PAD = (f"output-padding-by-{way}" for way in ("kernel", "pad"))
RULES = (PLAIN, CROP, SYMMETRIC, BY_SLICE, BY_KERNEL, MORE_BY_KERNEL, MORE_BY_PAD)
FULL = [1, 10, 102, 20, 203, 30, 300]

ROWS = {
    "row_16 upper": ('auto_pad = "SAME_UPPER"', FULL[:6], (CROP, BY_SLICE, BY_KERNEL)),
    "row_16 lower": ('auto_pad = "SAME_LOWER"', FULL[1:], (CROP, BY_SLICE, BY_KERNEL, SYMMETRIC)),
    "row_17": (
        "output_shape = [6], pads = [0, 1]",
        FULL[1:],
        (CROP, BY_SLICE, BY_KERNEL, SYMMETRIC),
    ),
    "row_18": ("output_shape = [8]", [*FULL, 0], (CROP, PLAIN, MORE_BY_KERNEL, MORE_BY_PAD)),
    "row_21": (
        'auto_pad = "SAME_UPPER", output_padding = [1]',
        FULL[1:],
        (CROP, MORE_BY_KERNEL, MORE_BY_PAD),
    ),
    "row_23": ("pads = [4, 0]", FULL[4:], (CROP, BY_SLICE, BY_KERNEL, SYMMETRIC)),
    "row_24": (
        "pads = [0, 2], output_padding = [1]",
        FULL[:6],
        (CROP, BY_SLICE, BY_KERNEL, MORE_BY_KERNEL, MORE_BY_PAD),
    ),
}


@pytest.mark.parametrize(("written", "expected", "rules"), ROWS.values(), ids=ROWS)
def test_rows(written: str, expected: list[float], rules: tuple[str, ...]) -> None:
    model = tiny(f"[op] y = ConvTranspose <strides = [2], {written}> (x, w)", "float[1,1,3]")
    for rule in rules:
        after = rewritten(model, rule, X3)
        assert values(after, X3) == expected
        for optimised in (False, True):
            found = ran(after, {"x": X3}, optimised=optimised)
            assert not isinstance(found, str), found
            assert found.ravel().tolist() == expected
        found_attributes = attributes(after)
        assert not {"auto_pad", "output_shape"} & found_attributes.keys()
        if rule.startswith("symmetric"):
            assert len({*found_attributes.get("pads", [0])}) == 1
        if rule.startswith("output-padding"):
            assert not any(found_attributes.get("output_padding", []))
        assert left_alone(after, rule)


def test_row_24_counts_from_the_end() -> None:
    model = tiny(
        "[op] y = ConvTranspose <strides = [2], pads = [0, 2], output_padding = [1]> (x, w)",
        "float[1,1,n]",
    )
    after = agrees(model, CROP, [(1, 1, n) for n in range(1, 9)], rtol=0)
    assert attributes(after) == {"strides": [2], "pads": [0, 0]}
    assert constant(after, "op/crop_ends").tolist() == [-1]


@pytest.mark.parametrize(("row", "size"), [("row_19", 12), ("row_19 one too many", 9)])
def test_row_19_no_pads_reach_so_far(row: str, size: int) -> None:
    assert row
    model = tiny(
        f"[op] y = ConvTranspose <strides = [2], output_shape = [{size}]> (x, w)", "float[1,1,3]"
    )
    for rule in (PLAIN, CROP, SYMMETRIC, MORE_BY_PAD):
        assert "must stay below the stride 2" in refused(model, rule).reason


def test_row_20_a_kernel_below_the_stride_crops_nothing() -> None:
    model = tiny(
        '[op] y = ConvTranspose <strides = [4], auto_pad = "SAME_UPPER"> (x, v)',
        "float[1,1,3]",
        constants="float[1,1,1] v = {2}",
    )
    assert left_alone(model, CROP, SYMMETRIC, BY_SLICE, BY_KERNEL)


@pytest.mark.parametrize("opset", [7, 11, 13, 18, 22])
@pytest.mark.parametrize("rule", [MORE_BY_KERNEL, MORE_BY_PAD])
@pytest.mark.parametrize("biased", [True, False])
def test_row_22_cells_of_output_padding_hold_the_bias(rule: str, opset: int, biased: bool) -> None:
    model = tiny(
        f"[op] y = ConvTranspose <strides = [3], output_padding = [2]> (x, v{', b' * biased})",
        "float[1,1,n]",
        constants="float[1,1,1] v = {1}, float[1] b = {7}",
        opset=opset,
    )
    after = agrees(model, rule, [(1, 1, n) for n in (1, 2, 3, 4, 7, 8)], rtol=0)
    if biased:
        assert values(after, X3) == [8, 7, 7, 9, 7, 7, 10, 7, 7]
    assert "output_padding" not in attributes(after)


def test_a_bias_needs_an_add_that_broadcasts() -> None:
    model = tiny(
        "[op] y = ConvTranspose <strides = [3], output_padding = [2]> (x, v, b)",
        "float[1,1,3]",
        constants="float[1,1,1] v = {1}, float[1] b = {7}",
        opset=6,
    )
    reason = refused(model, MORE_BY_PAD).reason
    assert reason == "Add of opset 6 has no broadcasting that a bias needs"


@pytest.mark.parametrize("opset", [13, 18])
def test_onnxruntime_does_not_fuse_the_pad_into_a_pool_behind_it(opset: int) -> None:
    """MaxPool would read the lowest value instead of the 0 of output_padding."""
    model = tiny(
        "[op] u = ConvTranspose <strides = [3], output_padding = [2]> (x, v) "
        "y = MaxPool <kernel_shape = [3]> (u)",
        "float[1,1,n]",
        constants="float[1,1,1] v = {1}",
        opset=opset,
    )
    after = rewritten(model, MORE_BY_PAD)
    behind = ["Pad", "MaxPool"] if opset >= 18 else ["Pad", "Slice", "MaxPool"]
    assert kinds(after) == ["ConvTranspose", *behind]
    x = numbers(-1, -2, -3)
    for optimised in (False, True):
        found = ran(after, {"x": x}, optimised=optimised)
        assert not isinstance(found, str), found
        assert found.ravel().tolist() == values(model, x)
    assert values(model, x)[-1] == 0


def test_output_padding_makes_pads_equal() -> None:
    model = tiny("[op] y = ConvTranspose <strides = [2], pads = [1, 0]> (x, w)", "float[1,1,n]")
    after = agrees(model, SYMMETRIC, [(1, 1, n) for n in range(1, 8)], rtol=0)
    assert attributes(after) == {"strides": [2], "pads": [1, 1], "output_padding": [1]}


def test_sizes_that_matter_are_named() -> None:
    model = tiny(
        "[op] y = ConvTranspose <strides = [2], output_shape = [6]> (x, w)", "float[1,1,n]"
    )
    for rule in RULES:
        assert "output_shape needs the size" in refused(model, rule).reason


def test_a_fed_weight_is_not_extended() -> None:
    model = tiny(
        "[op] y = ConvTranspose <pads = [0, 1], output_padding = [1], strides = [2]> (x, v)",
        "float[1,1,3]",
        inputs="float[1,1,1] v",
    )
    assert kinds(rewritten(model, BY_SLICE)) == ["ConvTranspose"]
    odd = tiny("[op] y = ConvTranspose <pads = [0, 1]> (x, v)", inputs="float[1,1,3] v")
    assert "no constant of the model" in refused(odd, BY_KERNEL).reason


DYNAMIC = "[op] y = com.microsoft.ConvTransposeWithDynamicPads"


@pytest.mark.parametrize("bias", ["", ", b"])
def test_pads_of_an_input_become_an_attribute(bias: str) -> None:
    model = tiny(
        f"{DYNAMIC} <strides = [2], output_padding = [1]> (x, v, p{bias})",
        "float[1,1,n]",
        constants="float[1,1,3] v = {1, 10, 100}, int64[2] p = {0, 2}, float[1] b = {7}",
    )
    assert "reads its pads from an input" in refused(model, CROP).reason
    assert "--pass plain-transpose" in refused(model, SYMMETRIC).hints
    after = agrees(model, PLAIN, [(1, 1, n) for n in (1, 2, 3, 4, 7, 8)], rtol=0)
    (node,) = after.graph.node
    assert (node.op_type, len(node.input)) == ("ConvTranspose", 3 if bias else 2)
    assert "p" not in [tensor.name for tensor in after.graph.initializer]


@pytest.mark.parametrize(
    ("written", "pads", "reason"),
    [
        ("strides = [2]", "q", "computed while the model runs"),
        ('strides = [2], auto_pad = "SAME_UPPER"', "p", "contradict each other"),
        ("strides = [2]", "r", "[0, 1, 0] for 1 axes"),
        ("strides = [2]", "s", "are negative"),
    ],
)
def test_pads_of_an_input_that_are_not_clear(written: str, pads: str, reason: str) -> None:
    constants = "float[1,1,3] v = {1, 10, 100}, int64[2] p = {0, 2}, int64[3] r = {0, 1, 0}"
    model = tiny(
        f"{DYNAMIC} <{written}> (x, v, {pads})",
        "float[1,1,3]",
        constants=constants + ", int64[2] s = {-1, 0}",
        inputs="int64[2] q",
    )
    for rule in (PLAIN, "static-pads"):
        assert reason in refused(model, rule).reason


@pytest.mark.parametrize("opset", [11, 18])
def test_begin_pads_may_leave_cells_of_output_padding_alone(opset: int) -> None:
    """Such a convolution computes no cell by itself, and onnxruntime wants one."""
    swallowed = 0
    for size, kernel, stride, begin in product((1, 2), (1, 2), (2, 3), range(4)):
        for extra, end, shown in product(range(1, stride), range(2), (size, "n")):
            taps = ", ".join(map(str, range(1, kernel + 1)))
            model = tiny(
                f"[op] y = ConvTranspose <strides = [{stride}], pads = [{begin}, {end}], "
                f"output_padding = [{extra}]> (x, v, b)",
                f"float[1,1,{shown}]",
                constants=f"float[1,1,{kernel}] v = {{{taps}}}, float[1] b = {{7}}",
                opset=opset,
            )
            x = numbers(*range(-size, 0))
            wanted = by_onnxruntime(model, x)
            if isinstance(wanted, str):
                continue
            once = done(model, MORE_BY_PAD)
            if not once.changed:
                assert "may crop all that it computes" in once.skips[0].skip.reason
                assert once.skips[0].skip.hints == (f"--pass {CROP}",)
                swallowed += 1
                once = rewrite(model, passes=[CROP, MORE_BY_PAD])
            assert isinstance(once.model, onnx.ModelProto)
            assert not any(attributes(once.model).get("output_padding", []))
            assert by_onnxruntime(once.model, x) == wanted
    assert swallowed


@pytest.mark.parametrize(
    ("output", "given"),
    [((6, 6), "--dim 'H=3' --dim 'W=2'"), ((31, 32), "--dim 'H=16' --dim 'W=11'")],
)
def test_the_size_to_try_gives_the_output_that_is_wanted(
    output: tuple[int, int], given: str
) -> None:
    """Only the number helps: a divisor of it would leave the crop open."""
    model = tiny(
        f"[op] y = ConvTranspose <strides = [2, 3], output_shape = [{output[0]}, {output[1]}]> "
        "(x, v)",
        "float[1,1,H,W]",
        constants="float[1,1,3,3] v = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
    )
    for rule in (PLAIN, CROP):
        assert refused(model, rule).hints == (given,)
    facts: dict[str, int | str] = {}
    for part in given.replace("--dim ", "").replace("'", "").split():
        name, _, size = part.partition("=")
        facts[name] = int(size)
    found = rewrite(model, passes=PLAIN, dims=facts)
    assert found.changed
    assert not found.skips


EXACT_RULES = (
    "plain-transpose",
    "slice-transpose",
    "symmetric-pads",
    "symmetric-pads-by-slice",
    "symmetric-pads-by-kernel",
    "output-padding-by-kernel",
    "output-padding-by-pad",
)


def drawn(seed: int) -> tuple[onnx.ModelProto, list[tuple[int, ...]]]:
    """A transposed convolution with small random geometry, and shapes for its input."""
    rng = np.random.default_rng(seed)
    rank, group = int(rng.integers(1, 4)), int(rng.choice([1, 1, 2, 3]))
    kernel = rng.integers(1, 5 if rank < 3 else 3, rank)
    strides, dilations = rng.integers(1, 4, rank), rng.integers(1, 4, rank)
    extra = rng.integers(0, strides) * rng.integers(2)
    attributes: dict[str, Any] = {"strides": strides, "dilations": dilations, "group": group}
    sizes = rng.integers(2, 6, rank)
    full = (sizes - 1) * strides + dilations * (kernel - 1) + 1
    dynamic = _crop(rng, attributes, full, extra, strides)
    if rng.integers(2):
        attributes["kernel_shape"] = kernel
    shape = (group * 2, 2, *kernel)
    w = rng.integers(-9, 10, shape).astype(np.float32)
    constants = {"w": w, "b": np.arange(1, 2 * group + 1, dtype=np.float32)}
    inputs = ["x", "w", "b"][: 2 + int(rng.integers(2))]
    node = helper.make_node(
        "ConvTranspose",
        inputs,
        ["y"],
        "op",
        **{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in attributes.items()},
    )
    written = [f"s{axis}" for axis in range(rank)] if dynamic else sizes.tolist()
    graph = helper.make_graph(
        [node],
        "drawn",
        [helper.make_tensor_value_info("x", 1, ["n", 2 * group, *written])],
        [helper.make_tensor_value_info("y", 1, [f"y{axis}" for axis in range(rank + 2)])],
        [numpy_helper.from_array(constants[name], name) for name in inputs[1:]],
    )
    opset = int(rng.choice([7, 10, 11, 13, 18, 22]))
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, ir_version=8, opset_imports=imports)
    many = [sizes + more for more in range(6)] if dynamic else [sizes]
    return model, [(1 + seed % 2, 2 * group, *map(int, spatial)) for spatial in many]


def _crop(
    rng: Generator, attributes: dict[str, Any], full: Array, extra: Array, strides: Array
) -> bool:
    """Write a crop in one of its ways; whether it is known without the size of the input."""
    if extra.any():
        attributes["output_padding"] = extra
    match rng.integers(4):
        case 0:
            attributes["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        case 1:
            lowest = np.maximum(1, full - 3)
            attributes["output_shape"] = rng.integers(lowest, full + strides)
            return False
        case _:
            begins = rng.integers(0, np.minimum(4, full))
            ends = rng.integers(0, np.minimum(4, full - begins))
            attributes["pads"] = np.concatenate([begins, ends])
    return bool(rng.integers(2))


@pytest.mark.part(2)
@pytest.mark.parametrize("part", range(8))
def test_drawn_models(part: int) -> None:
    """Whole numbers: every form must give the same bits, by the oracle and by onnxruntime."""
    changed = dict.fromkeys(EXACT_RULES, 0)
    for seed in range(part * 40, part * 40 + 40):
        model, shapes = drawn(seed)
        for rule in EXACT_RULES:
            made = rewrite(model, passes=[rule])
            if not made.changed:
                continue
            changed[rule] += 1
            assert isinstance(made.model, onnx.ModelProto)
            assert not rewrite(made.model, passes=[rule]).changed, (rule, model)
            _assert_forms(rule, model, made.model)
            if is_valid(model):
                onnx.checker.check_model(made.model, full_check=True)
            for shape in shapes:
                _assert_equal(model, made.model, shape, optimised=bool(seed % 2))
    assert min(changed.values()) > 3, changed


def _assert_forms(rule: str, model: onnx.ModelProto, after: onnx.ModelProto) -> None:
    before, found = (
        frozenset().union(*(forms_of(site.chain) for site in EditSession(one).sites_now()))
        for one in (model, after)
    )
    declared = find_pass(rule)
    assert not found & declared.removes, (rule, model)
    assert found - before <= declared.adds | {Form.PAD_NODE}, (rule, found - before, model)


def _assert_equal(
    model: onnx.ModelProto, after: onnx.ModelProto, shape: tuple[int, ...], *, optimised: bool
) -> None:
    x = np.random.default_rng(sum(shape)).integers(-9, 10, shape).astype(np.float32)
    try:
        wanted = run_model(model, {"x": x})["y"]
    except ValueError:  # the crop leaves nothing at this size, or output_padding is too wide
        return
    np.testing.assert_array_equal(run_model(after, {"x": x})["y"], wanted)
    before, found = (ran(one, {"x": x}, optimised=optimised) for one in (model, after))
    if not isinstance(before, str):
        assert not isinstance(found, str), (found, model, after)
        np.testing.assert_array_equal(found, wanted)
