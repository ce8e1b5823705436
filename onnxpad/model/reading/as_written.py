"""What the file says beside a padded node, as facts for the traps."""

from __future__ import annotations

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, PadInput, pads_are_attributes


def as_written(context: Context, node: Node, chain: Chain) -> AsWritten:
    """Facts about a node as it is seen from `context`."""
    auto_pad = context.attributes(node).get("auto_pad")
    pads, output = _pads_source(context, node, chain), next(iter(node.outputs), "")
    is_replaceable = pads in context.document.overridable
    return AsWritten(
        auto_pad=auto_pad if isinstance(auto_pad, str) else "",
        output_shape=context.type_of(output).dims,
        pad_reads=_dequantised_by(context, node, chain),
        computed_pads="" if is_replaceable else pads,
        overridable_pads=pads if is_replaceable else "",
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
