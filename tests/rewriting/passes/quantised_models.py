"""Quantised convolutions as exporters write them, and what onnxruntime makes of them."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import nodes
from tests.models.tiny import tiny as text_model
from tests.oracle.onnxruntime_levels import Array, ran

tiny = partial(text_model, x="float[1,2,7]", result="float[n,c,r]")
PADS = "int64[6] p = {0, 0, 1, 0, 0, 1}"
WEIGHT = "int8[2,2,3] k = {3, -2, 1, 5, 4, -7, 2, 2, 2, -1, 9, 1}, int8 k0 = {0}, float ks = {0.25}"
SCALES = "float s = {0.1}, float o = {2.0}"
IN, OUT = (
    "q = QuantizeLinear (x, s, z)",
    "r = QuantizeLinear (c, o, z) y = DequantizeLinear (r, o, z)",
)
WEIGHTS = "v = DequantizeLinear (k, ks, k0)"
CONV = "[op] c = Conv <{}> (d, v)"
X = np.random.default_rng(0).permutation(np.arange(-7, 7)).reshape(1, 2, 7).astype(np.float32)
DQ = "[dq] d = DequantizeLinear"


def group(
    front: str,
    *,
    zero: str = "uint8 z = {117}",
    conv: str = CONV.format("strides = [1]"),
    more: str = "",
    **keys: Any,
) -> onnx.ModelProto:
    """`front` makes `d`, the data of a quantised convolution."""
    held = ", ".join(filter(None, [PADS, WEIGHT, SCALES, zero, more]))
    return tiny(f"{front} {WEIGHTS} {conv} {OUT}", constants=held, **keys)


def optimised_kinds(model: onnx.ModelProto, folder: Path) -> list[str]:
    """What onnxruntime's default optimisations leave."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimised.onnx")
    options.log_severity_level = 4
    runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [node.op_type for node in onnx.load(folder / "optimised.onnx").graph.node]


def same(model: onnx.ModelProto, rule: str, x: Array = X, *, step: float = 0) -> onnx.ModelProto:
    """The rewritten model, which gives the same with optimisations and without.

    `step` is what the optimised model may differ by. onnxruntime opens some models only without.
    """
    done = rewrite(model, passes=[rule])
    assert done.changed, [refusal.skip for refusal in done.skips]
    after = done.model
    assert isinstance(after, onnx.ModelProto)
    onnx.checker.check_model(after, full_check=True)
    assert not rewrite(after, passes=[rule]).changed
    for level in (False, True):
        wanted, found = (ran(one, {"x": x}, optimised=level) for one in (model, after))
        if isinstance(wanted, str) and level:
            continue
        assert not isinstance(wanted, str), wanted
        assert not isinstance(found, str), found
        assert np.abs(found - wanted).max() <= step * level
    return after


def path_to(model: onnx.ModelProto, name: str = "op") -> list[str]:
    """Operators in front of a node's data, the farthest first."""
    makers = {out: node for node in nodes(model.graph) for out in node.output}
    (node,) = [one for one in nodes(model.graph) if one.name == name]
    found: list[str] = []
    while node.input[0] in makers:
        node = makers[node.input[0]]
        found.insert(0, node.op_type)
    return found


WIDE = CONV.format("pads = [1, 2]")
SIGNED = "int8 z = {-11}"
