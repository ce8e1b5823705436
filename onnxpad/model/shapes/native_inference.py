"""onnx's shape inference of a whole model, as the model checker runs it.

Here where its cost is bounded, else in a child process. Measured with onnx 1.23.2 and read in its
source: time and memory go with the nodes of a model, but the body of a function is inferred for
every call, and a Slice of an axis whose size is below 0 ends the process. Values of shapes are
never followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import onnx
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from onnxpad import processes
from onnxpad.model.graph.nodes import bodies, every_node
from onnxpad.processes import Buffer, ChildEnded, ChildError, Limits, Reply

_MODULE = "onnxpad.model.shapes.native_inference"
_WHAT = "onnx's shape inference"
SECONDS, MEMORY = 5.0, 2**29
"""What one inference may take in a child, where nobody says otherwise."""
_MOST_CALLS = 10_000


def infer_shapes(model: ModelProto) -> ModelProto:
    """`onnx.shape_inference.infer_shapes`, in a child where nothing bounds its cost.

    Raises what onnx raises; LimitMet where the child was ended at its limit, and ChildEnded where
    it ended otherwise. A work whose limit was met begins no further one.
    """
    if is_bounded(model):
        found: ModelProto = onnx.shape_inference.infer_shapes(model)
        return found
    content = model.SerializeToString()
    own = Limits(
        SECONDS + processes.SECONDS_PER_MB * len(content) / 1e6,
        MEMORY + processes.MEMORY_PER_BYTE * len(content),
    )
    with processes.limited() as work:
        child = work.child(_MODULE, _WHAT)
        try:
            reply = work.call(child, {"do": "infer"}, [content], what=_WHAT, own=own)
        except ChildError as error:
            raise onnx.shape_inference.InferenceError(str(error)) from None
        except ChildEnded as error:
            work.met[_WHAT] = f"{_WHAT}: {error.told}"
            raise
    found = ModelProto()
    found.ParseFromString(bytes(reply.buffers[0]))
    return found


def is_bounded(model: ModelProto) -> bool:
    """Whether inference ends where it follows no values, at a cost that goes with the model."""
    if model.functions and calls_in(model) > _MOST_CALLS:
        return False
    parts = list(_parts([model.graph, *model.functions]))
    nodes = [node for part in parts for node in part.node]
    cut = {name for node in nodes if node.op_type == "Slice" for name in node.input[:1]}
    # Of a Slice that reads a shape or a constant the size is never below 0.
    made = {name for node in nodes if node.op_type != "Shape" for name in node.output}
    made |= {one if isinstance(one, str) else one.name for part in parts for one in part.input}
    held = {tensor.name for part in parts for tensor in _plain_initializers(part)}
    shapes = {name for node in nodes if node.op_type == "Shape" for name in node.output}
    return cut <= (held | shapes) - made


def calls_in(model: ModelProto) -> int:
    """How many calls of local functions there are, those inside of each called one counted again.

    Counting ends beyond 2^62; a function that calls itself counts as that many.
    """
    functions = {(one.domain, one.name): one for one in model.functions}
    known: dict[tuple[str, str], int] = {}

    def count(nodes: Iterable[NodeProto], depth: int) -> int:
        total = 0
        for node in every_node(nodes):
            key = (node.domain, node.op_type)
            if key not in functions:
                continue
            if depth > len(functions):
                return 2**62
            if key not in known:
                known[key] = count(functions[key].node, depth + 1)
            total += 1 + known[key]
        return min(total, 2**62)

    return count(model.graph.node, 0)


def _parts(parts: Iterable[GraphProto | FunctionProto]) -> Iterable[GraphProto | FunctionProto]:
    """Graphs and functions, with all bodies in them."""
    for part in parts:
        yield part
        yield from (body for node in every_node(part.node) for body in bodies(node))


def _plain_initializers(part: GraphProto | FunctionProto) -> Iterable[TensorProto]:
    tensors = part.initializer if isinstance(part, GraphProto) else ()
    return (one for one in tensors if min(one.dims, default=0) >= 0)


def _answer(_: Mapping[str, object], buffers: list[Buffer]) -> Reply:
    model = ModelProto()
    model.ParseFromString(bytes(buffers[0]))
    return Reply({}, [onnx.shape_inference.infer_shapes(model).SerializeToString()])


def _clear(_: Mapping[str, object], __: list[Buffer]) -> Reply:
    return Reply({}, [])


if __name__ == "__main__":
    processes.serve({"infer": _answer, "clear": _clear})
