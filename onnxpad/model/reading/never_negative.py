"""Proofs that no cell of a tensor is below 0."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.fills import number_of
from onnxpad.padding.forms import windows_hold_data
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Since
from onnxpad.padding.plain_operators import MOVES

_Proof = Callable[[str], bool]
_MOST = 32
_ALWAYS = frozenset(
    {
        *("Relu", "Abs", "Exp", "HardSigmoid", "Sigmoid", "Softmax", "Softplus", "Sqrt"),
        *("ReduceL1", "ReduceL2", "ReduceSumSquare"),
    }
)
_AS_FIRST = MOVES | {
    *("GlobalMaxPool", "GlobalAveragePool", "ReduceMean", "ReduceSum"),
    *("Cast", "Ceil", "Floor", "Dropout"),
}
_AS_ALL = frozenset({"Concat", "Min", "Where", "Add", "Sum", "Mul", "Div", "Mean"})
"""Operators whose result is never below 0 where the first input is not, or none of them is."""


def never_negative(context: Context, name: str, asked: dict[str, bool] | None = None) -> bool:
    """Whether no cell of the tensor is below 0, NaN aside; `asked` is what is found on the way."""
    asked = {} if asked is None else asked
    if name not in asked:
        asked[name] = False
        proof = partial(never_negative, context, asked=asked)
        asked[name] = len(asked) < _MOST and _follows(context, name, proof)
    return asked[name]


def _follows(context: Context, name: str, proof: _Proof) -> bool:
    if context.constant_tensor(name) is not None:
        return _is_constant(context, name)
    maker = context.scope.producers.get(name)
    if context.type_of(name).dtype.startswith("uint"):
        return True
    if maker is None or maker.domain not in PLAIN_DOMAINS or not maker.inputs:
        return False
    if chain := context.chains.get(maker.key):
        return proof(maker.inputs[0]) and _keeps(chain)
    return _makes(context, maker, proof)


def _makes(context: Context, maker: Node, proof: _Proof) -> bool:
    """Whether an operator without padding makes nothing below 0."""
    kind, read = maker.op_type, maker.inputs
    if kind == "DequantizeLinear":
        return _dequantises(context, maker)
    if kind == "Clip":
        low, high = (_is_bound(context, maker, place) for place in (1, 2))
        return high is not False and (low is True or proof(read[0]))
    # Integers overflow, and the lowest one has no absolute value.
    if kind != "Relu" and "float" not in context.type_of(maker.outputs[0]).dtype:
        return kind in MOVES and proof(read[0])
    if kind == "Max":
        return any(map(proof, read))
    if kind in _AS_ALL:
        return all(map(proof, read[kind == "Where" :]))
    return kind in _ALWAYS or (kind in _AS_FIRST and proof(read[0]))


def _is_constant(context: Context, name: str) -> bool:
    value = context.constant(name)
    return value is not None and value.size > 0 and bool((value >= 0).all())


def _is_bound(context: Context, node: Node, place: int) -> bool | None:
    """Whether a limit of a Clip is at least 0; None where it has none."""
    if context.scope.opset < Since.CLIP_INPUTS:
        value = context.attributes(node).get(("min", "max")[place - 1])
        return value >= 0 if isinstance(value, float) else None
    return _is_constant(context, node.input(place)) if node.input(place) else None


def _keeps(chain: Chain) -> bool:
    """Whether a Pad or a pool of what is not below 0 writes nothing below 0.

    A window that holds padding alone may.
    """
    if chain.op.kind is Kind.PAD and chain.pad is not None:
        value = number_of(chain.pad.fill)
        adds_none = chain.pad.mode != "constant" or (value is not None and value >= 0)
        return adds_none and not chain.pad.unclear
    pads = Pads.zero(chain.rank) if isinstance(chain.padding, AutoPad) else chain.padding
    if chain.op.kind is Kind.MAX and len(chain.written.outputs) < 2:
        return isinstance(pads, Pads) and windows_hold_data(chain, pads)
    return chain.op.kind in (Kind.AVERAGE, Kind.LP) and not chain.op.quantised


def _dequantises(context: Context, node: Node) -> bool:
    """Whether a DequantizeLinear writes nothing below 0, whatever it reads."""
    scale = context.constant(node.input(1))
    zero = context.constant(node.input(2)) if node.input(2) else np.zeros(1, np.int64)
    dtype = context.type_of(node.inputs[0]).dtype
    if scale is None or zero is None or "int" not in dtype or (scale <= 0).any():
        return False
    return bool((np.iinfo(dtype).min - zero.astype(np.int64) >= 0).all())
