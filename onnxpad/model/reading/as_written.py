"""What the file says beside a padded node, as facts for the traps."""

from __future__ import annotations

from onnx import GraphProto

from onnxpad.geometry.size import Symbol
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Scope
from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import Chain, Mark, Shape
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, PadInput, pads_are_attributes


def as_written(context: Context, node: Node, chain: Chain) -> AsWritten:
    """Facts about a node as it is seen from `context`; the declared shape only of a wrong one."""
    auto_pad = context.attributes(node).get("auto_pad")
    pads, output = _pads_source(context, node, chain), next(iter(node.outputs), "")
    is_replaceable = pads in context.document.overridable
    is_wrong = Mark.DECLARED_OTHERWISE in chain.around.marks
    return AsWritten(
        auto_pad=auto_pad if isinstance(auto_pad, str) else "",
        output_shape=context.type_of(output).dims,
        declared=_declared_shape(context.scope, output) if is_wrong else None,
        pad_reads=_dequantised_by(context, node, chain),
        computed_pads="" if is_replaceable else pads,
        overridable_pads=pads if is_replaceable else "",
    )


def _declared_shape(scope: Scope, name: str) -> Shape:
    results = scope.proto.output if isinstance(scope.proto, GraphProto) else ()
    value = next(one for one in (*scope.proto.value_info, *results) if one.name == name)
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else Symbol(dim.dim_param or "?")
        for dim in value.type.tensor_type.shape.dim
    )


def _pads_source(context: Context, node: Node, chain: Chain) -> str:
    """The tensor with the pads where it is no constant; computed pads may be known all the same."""
    by_attribute = pads_are_attributes(chain.op.domain, context.scope.opset)
    name = node.input(PadInput.PADS) if chain.op.kind is Kind.PAD and not by_attribute else ""
    return name if name and context.constant_tensor(name) is None else ""


def _dequantised_by(context: Context, node: Node, chain: Chain) -> str:
    """The DequantizeLinear in front of the Pad in front of an operator."""
    pad = context.scope.producers.get(node.input(0))
    if chain.op.kind is Kind.PAD or chain.pad is None or pad is None:
        return ""
    maker = context.scope.producers.get(pad.input(0))
    if pad.domain not in PLAIN_DOMAINS or maker is None or maker.op_type != "DequantizeLinear":
        return ""
    return f"DequantizeLinear '{maker.name or maker.outputs[0]}'"
