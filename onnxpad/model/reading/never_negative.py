"""Proofs that no cell of a tensor is below 0, by the operators that make it."""

from __future__ import annotations

from functools import partial

import numpy as np

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.quantised import zero_fill
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.fills import Constant, number_of
from onnxpad.padding.forms import windows_hold_data
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Since
from onnxpad.padding.plain_operators import MOVES

_MOST = 32
_ALWAYS = frozenset({"Relu", "Abs", "Exp", "HardSigmoid", "Sigmoid", "Softmax", "Softplus", "Sqrt"})
_AS_FIRST = MOVES | {"GlobalMaxPool", "GlobalAveragePool", "ReduceMean", "ReduceSum", "Dropout"}
_AS_ALL = frozenset({"Concat", "Min", "Max", "Add", "Sum", "Mul", "Mean"})
"""Operators whose result is never below 0 where the first input is not, or none of them is."""


def never_negative(context: Context, name: str, asked: dict[str, bool] | None = None) -> bool:
    """Whether no cell of the tensor is below 0, NaN aside; `asked` is what is found on the way."""
    asked = {} if asked is None else asked
    if name not in asked:
        asked[name] = False
        asked[name] = len(asked) < _MOST and _follows(context, name, asked)
    return asked[name]


def _follows(context: Context, name: str, asked: dict[str, bool]) -> bool:
    proof = partial(never_negative, context, asked=asked)
    maker, dtype = context.scope.producers.get(name), context.type_of(name).dtype
    if dtype.startswith("uint") or maker is None:
        return dtype.startswith("uint")
    if maker.domain not in PLAIN_DOMAINS or not maker.inputs:
        return False
    kind, read = maker.op_type, maker.inputs
    if chain := context.chains.get(maker.key):
        return proof(read[0]) and _keeps(chain)
    if kind in ("Clip", "DequantizeLinear"):
        return (_clips if kind == "Clip" else _dequantises)(context, maker)
    if kind != "Relu" and "float" not in dtype:  # sums of integers overflow
        return kind in MOVES and proof(read[0])
    if kind in _AS_ALL:
        return all(map(proof, read))
    return kind in _ALWAYS or (kind in _AS_FIRST and proof(read[0]))


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


def _clips(context: Context, node: Node) -> bool:
    """Whether the lower limit of a Clip is at least 0, and the upper one, if it has one."""
    if context.scope.opset < Since.CLIP_INPUTS:
        attributes = context.attributes(node)
        limits = (attributes.get("min", -1.0), attributes.get("max", 0.0))
        return all(isinstance(limit, float) and limit >= 0 for limit in limits)
    values = [context.constant(name) for name in (node.input(1), node.input(2) or node.input(1))]
    return all(value is not None and value.size > 0 and (value >= 0).all() for value in values)


def _dequantises(context: Context, node: Node) -> bool:
    """Whether a DequantizeLinear writes nothing below 0, whatever it reads."""
    scale, zero = context.constant(node.input(1)), zero_fill(context, node.input(2))
    dtype = context.type_of(node.inputs[0]).dtype
    if scale is None or "int" not in dtype or not isinstance(zero, Constant):
        return False
    return bool(zero.value == np.iinfo(dtype).min and (scale > 0).all())
