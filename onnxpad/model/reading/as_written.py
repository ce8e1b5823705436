"""What the file says beside a padded node, as facts for the traps."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import GraphProto, ValueInfoProto

from onnxpad.geometry.size import Size, Symbol
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Scope
from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import Chain, Shape
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, PadInput, pads_are_attributes


class Observer:
    """Looks around padded nodes; what belongs to a whole scope is gathered once."""

    def __init__(self) -> None:
        self._declared: dict[str, dict[str, ValueInfoProto]] = {}

    def written(self, context: Context, node: Node, chain: Chain) -> AsWritten:
        """Facts about a node as it is seen from `context`."""
        auto_pad = context.attributes(node).get("auto_pad")
        computed, overridable = _pads_source(context, node, chain)
        output = node.outputs[0] if node.outputs else ""
        return AsWritten(
            auto_pad=auto_pad if isinstance(auto_pad, str) else "",
            output_shape=context.type_of(output).dims,
            declared=self._declared_shape(context.scope, output),
            pad_reads=_dequantised_by(context, node, chain),
            computed_pads=computed,
            overridable_pads=overridable,
        )

    def _declared_shape(self, scope: Scope, name: str) -> Shape:
        if scope.id not in self._declared:
            proto = scope.proto
            values = list(proto.value_info)
            if isinstance(proto, GraphProto):
                values += proto.output
            self._declared[scope.id] = {value.name: value for value in values}
        value = self._declared[scope.id].get(name)
        if value is None or not value.type.tensor_type.HasField("shape"):
            return None
        return tuple(_sizes(value))


def _sizes(value: ValueInfoProto) -> Iterator[Size | None]:
    for dim in value.type.tensor_type.shape.dim:
        if dim.HasField("dim_value"):
            yield dim.dim_value
        else:
            yield Symbol(dim.dim_param) if dim.dim_param else None


def _pads_source(context: Context, node: Node, chain: Chain) -> tuple[str, str]:
    """Names of the tensor with the pads where it is computed, and where it can be replaced.

    Computed pads may be known all the same.
    """
    position = chain.op.pads_input
    if chain.op.kind is Kind.PAD:
        by_attribute = pads_are_attributes(chain.op.domain, context.scope.opset)
        position = None if by_attribute else PadInput.PADS
    name = "" if position is None else node.input(position)
    if not name or context.constant_tensor(name) is not None:
        return "", ""
    return ("", name) if name in context.document.overridable else (name, "")


def _dequantised_by(context: Context, node: Node, chain: Chain) -> str:
    """The DequantizeLinear in front of the Pad in front of an operator."""
    pad = context.scope.producers.get(node.input(0))
    if chain.op.kind is Kind.PAD or chain.pad is None or pad is None:
        return ""
    maker = context.scope.producers.get(pad.input(0))
    if pad.domain not in PLAIN_DOMAINS or maker is None or maker.op_type != "DequantizeLinear":
        return ""
    return f"DequantizeLinear '{maker.name or maker.outputs[0]}'"
