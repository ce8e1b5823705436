"""Transposed convolutions drawn at random: every form gives the same bits."""

from __future__ import annotations

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
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran
from tests.rewriting.passes.expanded import Array, is_valid

RULES = (
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


@pytest.mark.parametrize("part", range(8))
def test_drawn_models(part: int) -> None:
    """Whole numbers: every form must give the same bits, by the oracle and by onnxruntime."""
    changed = dict.fromkeys(RULES, 0)
    for seed in range(part * 40, part * 40 + 40):
        model, shapes = drawn(seed)
        for rule in RULES:
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
        frozenset().union(*(forms_of(site.chain) for site in EditSession(one).sites()))
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
