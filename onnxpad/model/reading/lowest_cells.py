"""Proofs that no cell of a tensor is below a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import windows_hold_data
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Since
from onnxpad.padding.plain_operators import MOVES

Lowest: TypeAlias = Callable[[str], float | None]
_MAX_DEPTH = 24
_NEVER_NEGATIVE = frozenset(
    {
        *("Abs", "Exp", "HardSigmoid", "Sigmoid", "Softmax", "Softplus", "Sqrt"),
        *("ReduceL1", "ReduceL2", "ReduceSumSquare"),
    }
)
_SAME_CELLS = MOVES | {"GlobalMaxPool", "Concat", "Min", "Where"}
_KEEPS_SIGN = frozenset(
    {
        *("GlobalAveragePool", "ReduceMean", "ReduceSum", "Cast", "Ceil", "Floor", "Dropout"),
        *("Add", "Sum", "Mul", "Div", "Mean"),
    }
)
_FROM_ALL = frozenset({"Concat", "Min", "Where", "Add", "Sum", "Mul", "Div", "Mean"})


def lowest_cell(context: Context, name: str) -> float | None:
    """A number that no cell of the tensor is below, NaN aside; None where none is proved."""
    known: dict[str, float | None] = {}

    def lowest(name: str, depth: int) -> float | None:
        if not name or depth > _MAX_DEPTH:
            return None
        if name not in known:
            known[name] = None
            known[name] = _found(context, name, lambda read: lowest(read, depth + 1))
        return known[name]

    return lowest(name, 0)


def _found(context: Context, name: str, lowest: Lowest) -> float | None:
    if context.type_of(name).dtype.startswith("uint"):
        return 0.0
    if context.constant_tensor(name) is not None:
        value = context.constant(name)
        return None if value is None or not value.size else float(np.min(value))
    maker = context.scope.producers.get(name)
    if maker is None or maker.domain not in PLAIN_DOMAINS or not maker.inputs:
        return None
    chain = context.chains.get(maker.key)
    if chain is not None:
        return _padded(maker, chain, lowest)
    return _plain(context, maker, lowest)


def _plain(context: Context, node: Node, lowest: Lowest) -> float | None:
    kind = node.op_type
    # Integers overflow, and the lowest one has no absolute value.
    is_float = "float" in context.type_of(node.outputs[0]).dtype
    if kind == "Relu" or (kind in _NEVER_NEGATIVE and is_float):
        return 0.0
    if kind == "DequantizeLinear":
        return _lowest_dequantised(context, node)
    read = node.inputs[1:] if kind == "Where" else node.inputs
    if kind == "Clip":
        return _clipped(context, node, lowest(read[0]))
    if kind == "Max":
        return max((one for name in read if (one := lowest(name)) is not None), default=None)
    if kind not in _SAME_CELLS | _KEEPS_SIGN:
        return None
    given = [lowest(name) for name in (read if kind in _FROM_ALL else read[:1])]
    known = [one for one in given if one is not None]
    least = min(known) if known and len(known) == len(given) else None
    if kind in _SAME_CELLS:
        return least
    return _sign(least) if is_float else None


def _padded(node: Node, chain: Chain, lowest: Lowest) -> float | None:
    """Pads and pools; a window that holds padding alone has no bound."""
    given, kind = lowest(node.inputs[0]), chain.op.kind
    if given is None or chain.op.quantised:
        return None
    if kind is Kind.PAD:
        step = chain.pad
        if step is None or step.unclear:
            return None
        if step.mode != "constant":
            return given
        return min(given, float(step.fill.value)) if isinstance(step.fill, Constant) else None
    if kind is Kind.MAX and not node.outputs[1:] and _holds_cells(chain):
        return given
    return _sign(given) if kind in (Kind.AVERAGE, Kind.LP) else None


def _holds_cells(chain: Chain) -> bool:
    """Whether every window of a pool holds a cell that is no padding."""
    padding = chain.padding
    pads = Pads.zero(chain.rank) if isinstance(padding, AutoPad) else padding
    return isinstance(pads, Pads) and windows_hold_data(chain, pads)


def _clipped(context: Context, node: Node, given: float | None) -> float | None:
    """Behind a Clip whose bounds are known."""
    bounds: list[float] = []
    for place, (name, without) in enumerate((("min", -math.inf), ("max", math.inf)), 1):
        if context.scope.opset < Since.CLIP_INPUTS:
            value: np.ndarray | None = np.asarray(context.attributes(node).get(name, without))
        elif node.input(place):
            value = context.constant(node.input(place))
        else:
            value = np.asarray(without)
        if value is None or value.size != 1 or value.dtype.kind not in "iuf":
            return None
        bounds.append(float(value.reshape(())))
    found = min(max(bounds[0], -math.inf if given is None else given), bounds[1])
    return None if found == -math.inf else found


def _sign(least: float | None) -> float | None:
    """Sums, products and means of what is never negative: rounding keeps the sign, no more."""
    return 0.0 if least is not None and least >= 0 else None


def _lowest_dequantised(context: Context, node: Node) -> float | None:
    """The lowest number that a DequantizeLinear can write."""
    scale = context.constant(node.inputs[1]) if len(node.inputs) > 1 else None
    zero = context.constant(node.input(2)) if node.input(2) else np.zeros(1, np.int64)
    dtype = context.type_of(node.inputs[0]).dtype
    if scale is None or zero is None or "int" not in dtype or (scale <= 0).any():
        return None
    if scale.dtype != np.float32 or (scale.size != zero.size and 1 not in (scale.size, zero.size)):
        return None
    least = np.float32(np.iinfo(dtype).min) - zero.astype(np.float32)
    return float((least * scale).min())
