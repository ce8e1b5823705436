"""Col2Im as a Chain: blocks are folded into an image, of which pads crop the border."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import Chain, Pads, Unclear
from onnxpad.fills import Constant
from onnxpad.geometry.axis import Axis
from onnxpad.graph.reading.attributes import Unbound, Value
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import constant_integers
from onnxpad.graph.reading.particulars import places_of, plain_attributes
from onnxpad.graph.reading.types import Type
from onnxpad.ops import Operator

_IMAGE_SHAPE, _BLOCK_SHAPE = 1, 2


def read_fold(context: Context, node: Node, op: Operator, source: Type) -> Chain:
    """The chain of a Col2Im (Col2Im-18): `axes` are those of the image, with the block as kernel.

    Sizes of the image are None where image_shape is computed; a computed block_shape is trouble.
    """
    inputs, outputs = places_of(context, node)
    attributes = context.attributes(node)
    chain = Chain(op, context.scope.opset, (), Pads((), ()), Constant(0), source.dtype)
    chain = replace(chain, shape=source.dims, inputs=inputs, outputs=outputs)
    blocks = _integers(context, node, _BLOCK_SHAPE)
    if blocks is None or any(isinstance(value, Unbound) for value in attributes.values()):
        trouble = Unclear("its block_shape or its attributes are not known")
        return replace(chain, padding=trouble, trouble=trouble)
    rank = len(blocks)
    sizes = _integers(context, node, _IMAGE_SHAPE) or (None,) * rank
    strides, dilations = (_numbers(attributes, n, (1,) * rank) for n in ("strides", "dilations"))
    pads = _numbers(attributes, "pads", (0,) * 2 * rank)
    lengths = {len(sizes), len(strides), len(dilations), len(pads) / 2}
    if lengths != {rank}:
        trouble = Unclear(f"its lists have lengths that do not fit {rank} image axes")
        return replace(chain, padding=trouble, trouble=trouble)
    return replace(
        chain,
        axes=tuple(Axis(*facts) for facts in zip(sizes, blocks, strides, dilations, strict=True)),
        padding=Pads(pads[:rank], pads[rank:]),
        attributes=plain_attributes(attributes),
    )


def _integers(context: Context, node: Node, position: int) -> tuple[int, ...] | None:
    return (
        constant_integers(context, node.inputs[position]) if len(node.inputs) > position else None
    )


def _numbers(attributes: dict[str, Value], name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    value = attributes.get(name)
    return tuple(int(one) for one in value) if isinstance(value, tuple) and value else default
