"""Proofs that no cell of a tensor is below a number."""

from __future__ import annotations

import math

import numpy as np

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import LEFT_OUT, Facts, clip_limits
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import windows_hold_data
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind
from onnxpad.padding.plain_operators import MOVES

_MAX_DEPTH = 24
_NEVER_NEGATIVE = frozenset(
    {
        *("Abs", "Exp", "HardSigmoid", "Sigmoid", "Softmax", "Softplus", "Sqrt"),
        *("ReduceL1", "ReduceL2", "ReduceSumSquare"),
    }
)
_SAME_CELLS = MOVES | {"GlobalMaxPool"}
_KEEPS_SIGN = frozenset(
    {"GlobalAveragePool", "ReduceMean", "ReduceSum", "Cast", "Ceil", "Floor", "Dropout"}
)
_KEEPS_SIGN_OF_ALL = frozenset({"Add", "Sum", "Mul", "Div", "Mean"})
_LEAST_OF_ALL = frozenset({"Concat", "Min", "Where"})
_FROM_ALL = _KEEPS_SIGN_OF_ALL | _LEAST_OF_ALL | {"Max"}


def lowest_cell(context: Context, name: str) -> float | None:
    """A number that no cell of the tensor is below, NaN aside; None where none is proved."""
    return _Prover(context).of(name, 0)


class _Prover:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[str, float | None] = {}

    def of(self, name: str, depth: int) -> float | None:
        if not name or depth > _MAX_DEPTH:
            return None
        if name not in self._known:
            self._known[name] = None
            self._known[name] = self._find(name, depth)
        return self._known[name]

    def _find(self, name: str, depth: int) -> float | None:
        context = self._context
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
            return self._padded(maker, chain, depth)
        return self._plain(maker, depth)

    def _plain(self, node: Node, depth: int) -> float | None:
        kind = node.op_type
        # Integers overflow, and the lowest one has no absolute value.
        is_float = "float" in self._context.type_of(node.outputs[0]).dtype
        if kind == "Relu" or (kind in _NEVER_NEGATIVE and is_float):
            return 0.0
        if kind == "DequantizeLinear":
            return _lowest_dequantised(self._context, node)
        if kind == "Clip":
            return self._clipped(node, depth)
        if kind in _SAME_CELLS:
            return self.of(node.inputs[0], depth + 1)
        if kind in _KEEPS_SIGN and is_float:
            return _not_negative([self.of(node.inputs[0], depth + 1)])
        return self._of_several(node, depth, is_float=is_float) if kind in _FROM_ALL else None

    def _of_several(self, node: Node, depth: int, *, is_float: bool) -> float | None:
        read = node.inputs[1:] if node.op_type == "Where" else node.inputs
        found = [self.of(name, depth + 1) for name in read]
        if node.op_type in _KEEPS_SIGN_OF_ALL:
            return _not_negative(found) if is_float else None
        if node.op_type in _LEAST_OF_ALL:
            return _least(found)
        return max((one for one in found if one is not None), default=None)

    def _clipped(self, node: Node, depth: int) -> float | None:
        context = self._context
        others = [context.constant(name) if name else LEFT_OUT for name in node.inputs[1:]]
        limits = clip_limits(Facts(context.attributes(node), others, context.scope.opset))
        if limits is None:
            return None
        low, high = limits
        given = self.of(node.inputs[0], depth + 1)
        found = min(max(low, -math.inf if given is None else given), high)
        return None if found == -math.inf else found

    def _padded(self, node: Node, chain: Chain, depth: int) -> float | None:
        """Pads and pools; a window that holds padding alone has no bound."""
        given = self.of(node.inputs[0], depth + 1)
        if given is None or chain.op.quantised:
            return None
        if chain.op.kind is Kind.PAD:
            step = chain.pad
            if step is None or step.unclear:
                return None
            if step.mode != "constant":
                return given
            written = step.fill.value if isinstance(step.fill, Constant) else None
            return None if written is None else min(given, float(written))
        if chain.op.kind is Kind.MAX and node.outputs[1:] == [] and holds_cells(chain):
            return given
        if chain.op.kind in (Kind.AVERAGE, Kind.LP):
            return _not_negative([given])
        return None


def holds_cells(chain: Chain) -> bool:
    """Whether every window of a pool holds a cell that is no padding."""
    match chain.padding:
        case Pads() as pads:
            return windows_hold_data(chain, pads)
        case AutoPad():
            return windows_hold_data(chain, Pads.zero(chain.rank))
    return False


def _least(found: list[float | None]) -> float | None:
    known = [one for one in found if one is not None]
    return min(known) if known and len(known) == len(found) else None


def _not_negative(found: list[float | None]) -> float | None:
    """Sums, products and means of what is never negative: rounding keeps the sign, no more."""
    least = _least(found)
    return 0.0 if least is not None and least >= 0 else None


def _lowest_dequantised(context: Context, node: Node) -> float | None:
    """The lowest number that a DequantizeLinear can write."""
    scale = context.constant(node.inputs[1]) if len(node.inputs) > 1 else None
    zero = context.constant(node.input(2)) if node.input(2) else np.zeros(1, np.int64)
    dtype = context.type_of(node.inputs[0]).dtype
    known = scale is not None and zero is not None and "int" in dtype
    if not known or not node.input(0) or scale is None or zero is None or (scale <= 0).any():
        return None
    if scale.dtype != np.float32 or (scale.size != zero.size and 1 not in (scale.size, zero.size)):
        return None
    least = np.float32(np.iinfo(dtype).min) - zero.astype(np.float32)
    return float((least * scale).min())
