"""onnx's shape inference: here where its cost is bounded, else in a child process.

Measured with onnx 1.23.2 and read in its source: time and memory go with the nodes of a model, but
the body of a function is inferred for every call, and a Slice of an axis whose size is below 0 ends
the process. Where values of shapes are followed as well, a Slice steps through them by its steps,
which overflow, a Concat of a result with itself doubles them, and others count those of one long
axis one by one: that is done here where types say that they are few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

import onnx
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from onnxpad import processes
from onnxpad.model.graph.nodes import bodies, every_node
from onnxpad.padding.operators import PLAIN_DOMAINS, operator
from onnxpad.processes import Buffer, ChildEnded, ChildError, Limits, Reply

_MODULE = "onnxpad.model.shapes.native_inference"
_WHAT = "onnx's shape inference"
SECONDS, MEMORY = 5.0, 2**29
"""What one inference may take in a child, where nobody says otherwise."""
_MOST_CALLS, _MOST_VALUES, _LARGEST_STEP, _FEW = 10_000, 10_000, 2**30, 64
# The operators through which onnx 1.23.2 follows values of one axis.
_FOLLOWED = {
    *("Add", "Cast", "Concat", "Gather", "Mul", "Size", "Slice", "Squeeze", "Sub", "Unsqueeze"),
}
# What may give a size below 0, beside windows and Pads: it takes sizes from inputs or attributes.
_SIZED = {"CenterCropPad", "Expand", "Resize", "Split", "TopK", "Upsample"}
_STEPS, _UNKNOWN = 4, _MOST_VALUES + 1
Sizes = tuple[int, ...]


def infer_shapes(
    model: ModelProto, *, data_prop: bool = False, strict_mode: bool = False
) -> ModelProto:
    """`onnx.shape_inference.infer_shapes`, in a child where nothing bounds its cost.

    Raises what onnx raises; LimitMet where the child was ended at its limit, and ChildEnded where
    it ended otherwise. A work whose limit was met begins no further one.
    """
    if is_bounded(model):
        found = _infer(model, data_prop=False, strict_mode=strict_mode)
        kinds = {node.op_type for node in every_node(model.graph.node)}
        if not data_prop or (not model.functions and kinds.isdisjoint(_FOLLOWED | {"Shape"})):
            return found
        if follows_few(found):
            return _infer(model, data_prop=True, strict_mode=strict_mode)
    asked = {"do": "infer", "data_prop": data_prop, "strict_mode": strict_mode}
    content = model.SerializeToString()
    own = Limits(
        SECONDS + processes.SECONDS_PER_MB * len(content) / 1e6,
        MEMORY + processes.MEMORY_PER_BYTE * len(content),
    )
    with processes.limited() as work:
        child = work.child(_MODULE, _WHAT)
        try:
            reply = work.call(child, asked, [content], what=_WHAT, own=own)
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
    if not cut or not any(map(_may_be_negative, parts)):
        return True
    harmless = {tensor.name for part in parts for tensor in _initializers(part)}
    others = {one if isinstance(one, str) else one.name for part in parts for one in part.input}
    others |= {value.name for part in parts for value in _stated(part) if _is_negative(value)}
    for node in nodes:
        (harmless if node.op_type == "Shape" and not node.domain else others).update(node.output)
    return cut <= harmless - others


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


def _initializers(part: GraphProto | FunctionProto) -> Iterable[TensorProto]:
    return part.initializer if isinstance(part, GraphProto) else ()


def _stated(part: GraphProto | FunctionProto) -> Iterable[ValueInfoProto]:
    ends = (*part.input, *part.output) if isinstance(part, GraphProto) else ()
    return (*ends, *part.value_info)


def _is_negative(value: ValueInfoProto) -> bool:
    return any(dim.dim_value < 0 for dim in value.type.tensor_type.shape.dim)


def _may_be_negative(part: GraphProto | FunctionProto) -> bool:
    """Whether a size that is stated, or that a node gives, may be below 0."""
    return (
        any(map(_is_negative, _stated(part)))
        or any(size < 0 for tensor in _initializers(part) for size in tensor.dims)
        or any(map(_gives_any_size, part.node))
    )


def _gives_any_size(node: NodeProto) -> bool:
    if node.op_type == "Constant":
        return any(size < 0 for one in node.attribute for size in one.t.dims)
    return node.op_type in _SIZED or operator(node.domain, node.op_type) is not None


def follows_few(found: ModelProto) -> bool:
    """Whether inference follows few values of a model that has its types, in small steps."""
    inside = (node.op_type for one in found.functions for node in every_node(one.node))
    if not _FOLLOWED.isdisjoint(inside):
        return False  # they have other types in every call
    return _follows_few(found.graph, {}, {}, unknown=0)


def _sizes(values: Iterable[ValueInfoProto], unknown: int) -> Iterator[tuple[str, Sizes]]:
    """The sizes of those of which a number of axes is known; those with names stay open."""
    for value in values:
        tensor = value.type.tensor_type
        if tensor.HasField("shape"):
            open_ = [0 if dim.dim_param else unknown for dim in tensor.shape.dim]
            both = zip(tensor.shape.dim, open_, strict=True)
            dims = (dim.dim_value if dim.HasField("dim_value") else size for dim, size in both)
            yield value.name, tuple(dims)


def _follows_few(
    graph: GraphProto, sizes: Mapping[str, Sizes], held: Mapping[str, TensorProto], unknown: int
) -> bool:
    """The same of a graph in others; `unknown` are cells along an open axis of its inputs."""
    own = {value.name for value in graph.input}.union(*(node.output for node in graph.node))
    sizes = {name: found for name, found in sizes.items() if name not in own}
    sizes |= dict(_sizes(graph.input, unknown))
    sizes |= dict(_sizes((*graph.value_info, *graph.output), _UNKNOWN))
    sizes |= {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    held = {name: found for name, found in held.items() if name not in own}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute:
            held.update(dict.fromkeys(node.output, node.attribute[0].t))
    held |= {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if not all(_follows_few(body, sizes, held, _UNKNOWN) for body in bodies(node)):
            return False
        if node.op_type not in _FOLLOWED or node.domain not in PLAIN_DOMAINS:
            continue
        shapes = [sizes.get(name) for name in (*node.input, *node.output) if name]
        if any(one is None or (len(one) < 2 and prod(one) > _MOST_VALUES) for one in shapes):
            return False
        steps = node.input[_STEPS] if node.op_type == "Slice" and len(node.input) > _STEPS else ""
        if steps and len(shapes[0] or ()) < 2 and not _are_small(held.get(steps)):
            return False
    return True


def _are_small(steps: TensorProto | None) -> bool:
    """Whether steps of a Slice are constants that cannot overflow."""
    if steps is None or prod(steps.dims) > _FEW:
        return False
    try:
        numbers = onnx.numpy_helper.to_array(steps).reshape(-1).tolist()
        return all(abs(number) <= _LARGEST_STEP for number in numbers)
    except Exception:  # noqa: BLE001 - numpy and onnx raise many kinds for damaged ones
        return False


def _infer(model: ModelProto, *, data_prop: bool, strict_mode: bool) -> ModelProto:
    found: ModelProto = onnx.shape_inference.infer_shapes(
        model, data_prop=data_prop, strict_mode=strict_mode
    )
    return found


def _answer(head: Mapping[str, object], buffers: list[Buffer]) -> Reply:
    model = ModelProto()
    model.ParseFromString(bytes(buffers[0]))
    found = _infer(model, data_prop=bool(head["data_prop"]), strict_mode=bool(head["strict_mode"]))
    return Reply({}, [found.SerializeToString()])


def _clear(_: Mapping[str, object], __: list[Buffer]) -> Reply:
    return Reply({}, [])


if __name__ == "__main__":
    processes.serve({"infer": _answer, "clear": _clear})
