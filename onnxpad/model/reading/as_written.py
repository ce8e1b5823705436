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
        attributes = context.attributes(node)
        auto_pad, pads = attributes.get("auto_pad"), attributes.get("pads")
        is_pad = chain.op.kind is Kind.PAD
        pad = node if is_pad else _pad_in_front(context, node, chain)
        computed, overridable = _pads_source(context, node, chain)
        output = node.outputs[0] if node.outputs else ""
        return AsWritten(
            auto_pad=auto_pad if isinstance(auto_pad, str) else "",
            pads=tuple(int(n) for n in pads) if isinstance(pads, tuple) and not is_pad else None,
            input_shape=context.type_of(node.inputs[0]).dims if node.inputs else None,
            output_shape=context.type_of(output).dims,
            declared=self._declared_shape(context.scope, output),
            outputs=sum(1 for name in node.outputs if name),
            pad_reads="" if is_pad or pad is None else _dequantised_by(context, pad),
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


def _is_plain(node: Node) -> bool:
    return node.domain in PLAIN_DOMAINS


def _pad_in_front(context: Context, node: Node, chain: Chain) -> Node | None:
    """The Pad node of the chain, where onnxruntime's fusion would see it as well."""
    if chain.pad is None:
        return None
    pad = context.scope.producers.get(node.inputs[0])
    return pad if pad is not None and _is_plain(pad) else None


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


def _dequantised_by(context: Context, pad: Node) -> str:
    maker = context.scope.producers.get(pad.input(0))
    if maker is None or maker.op_type != "DequantizeLinear":
        return ""
    return f"DequantizeLinear '{maker.name or maker.outputs[0]}'"
