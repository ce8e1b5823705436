"""What reads a Pad node or a convolution, as facts about the node itself."""

from __future__ import annotations

from onnxpad.model.graph.attributes import Value
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.padding.chain import PadStep
from onnxpad.padding.operators import operator

_WITHOUT_PADS = ("NOTSET", "", "VALID")


_FAR = 8


def feeds_channels_last(context: Context, node: Node, far: int = _FAR) -> bool:
    """Whether a reader of what a Pad writes has its channels on the last axis.

    Pads behind it pass that on, and Concats, which may hold cells that a Pad wrote once; `far`
    bounds how many.
    """
    for reader in _readers(context, node):
        passes_on = reader.op_type in ("Concat", "Pad") and far > 0
        if passes_on and feeds_channels_last(context, reader, far - 1):
            return True
        attributes = context.attributes(reader)
        op = operator(reader.domain, reader.op_type)
        if op is not None and (op.channels_last or attributes.get("channels_last") == 1):
            return True
        perm = attributes.get("perm")
        if reader.op_type == "Transpose" and isinstance(perm, tuple) and len(perm) > 2:
            rank = len(perm)
            if perm == (0, rank - 1, *range(1, rank - 1)):
                return True
    return False


def feeds_max_pools(context: Context, node: Node, step: PadStep) -> bool:
    """Whether max pools alone read a Pad's output, each of whose windows holds a cell of data."""
    readers, name = _readers(context, node), node.outputs[0]
    if not readers or name in context.scope.outputs:
        return False
    alone = context.scope.uses.get(name, 0) <= len(readers)
    return alone and all(_always_sees(context, reader, step) for reader in readers)


def _always_sees(context: Context, reader: Node, step: PadStep) -> bool:
    """Whether each window of a plain max pool is wider than the cells that a Pad adds."""
    attributes = context.attributes(reader)
    kernel = attributes.get("kernel_shape")
    if reader.op_type != "MaxPool" or not isinstance(kernel, tuple):
        return False
    if attributes.get("ceil_mode") or attributes.get("auto_pad", "NOTSET") not in _WITHOUT_PADS:
        return False
    if set(_ints(attributes.get("pads"))) - {0} or set(_ints(attributes.get("dilations"))) - {1}:
        return False
    reach = step.pads.sides
    windows = (1, 1, *kernel)
    return len(step.pads.begins) == len(windows) and all(
        max(sides) < width for sides, width in zip(reach, windows, strict=True)
    )


def _ints(value: Value | None) -> tuple[int | float, ...]:
    return value if isinstance(value, tuple) else ()


def _readers(context: Context, node: Node) -> list[Node]:
    """Nodes of the scope that read the first output of a node."""
    return context.readers(node.outputs[0]) if node.outputs else []
