"""From a spec to its model."""

from dataclasses import dataclass, field

import onnx
from onnx import helper

from tests.random_models.bodies import PLACES, Placed
from tests.random_models.fronts import add_steps, overridden
from tests.random_models.graphs import Array, Graph, initializers, value
from tests.random_models.kinds import MICROSOFT
from tests.random_models.operators import add_operator, result_type, twin
from tests.random_models.spec import Spec
from tests.random_models.stages import Stage, stages

LOCAL = "local"


@dataclass(frozen=True)
class Built:
    """A model with the values of its inputs besides the data.

    `fed` must be given; `others` are other values for initializers that may be overridden.
    """

    model: onnx.ModelProto
    fed: dict[str, Array]
    others: dict[str, Array] = field(default_factory=dict)


def build(spec: Spec) -> Built:
    """The model of a spec."""
    graph = Graph(
        spec.opset,
        "Constant" if spec.held == "Constant" else "initializer",
        spec.shared,
        spec.named,
    )
    tensor = add_steps(graph, spec, 0, spec.outside, "x")
    placed = PLACES[spec.place](graph, spec, tensor)
    outputs = [value("y", result_type(spec), _names("y", spec.rank + 2 + placed.deeper))]
    outputs += placed.outputs + _extra(graph, spec, placed)
    model = _model(graph, spec, outputs, placed)
    if spec.value_info:
        model = onnx.shape_inference.infer_shapes(model)
    # onnxruntime takes no other values for initializers before IR 4, where all had to be inputs.
    others = overridden(graph) if spec.overridable and model.ir_version > 3 else {}
    return Built(model, dict(graph.fed), others)


def _names(name: str, rank: int) -> list[str]:
    return [f"{name}_{axis}" for axis in range(rank)]


def _extra(graph: Graph, spec: Spec, placed: Placed) -> list[onnx.ValueInfoProto]:
    """Other readers of what the operator reads; they exist in the main graph only."""
    if spec.extra == "twin" and placed.read:
        made = add_operator(graph, twin(spec), placed.read, "z")
        return [value(made[0], result_type(spec), _names("z", spec.rank + 2))]
    if spec.extra == "reader" and placed.read:
        graph.node("Identity", [placed.read], "z")
        return [value("z", _read_type(spec), _names("z", len(stages(spec)[-1].axes)))]
    if spec.extra == "output" and placed.read not in ("", "x"):
        rank = len(stages(spec)[-1].axes)
        return [value(placed.read, _read_type(spec), _names("read", rank))]
    return []


def _read_type(spec: Spec) -> str:
    return stages(spec)[-1].dtype


def _input_shape(spec: Spec, stage: Stage) -> list[int | str | None]:
    sizes: list[int | str | None] = []
    free = spec.free or ("",) * spec.rank
    for axis in stage.axes:
        if axis == "N":
            sizes.append("batch" if spec.free_batch else spec.batch)
        elif isinstance(axis, int):
            sizes.append(dimension(spec, axis, free[axis]))
        else:
            sizes.append(spec.channels)
    return sizes


def dimension(spec: Spec, axis: int, free: str) -> int | str | None:
    """How the model writes the size of a spatial axis of its input."""
    if free == "":
        return spec.spatial[axis]
    if free == "open":
        return None
    return free.replace("h", f"h{axis}") if "h" in free else f"H{axis}"


def _model(
    graph: Graph, spec: Spec, outputs: list[onnx.ValueInfoProto], placed: Placed
) -> onnx.ModelProto:
    first = stages(spec)[0]
    inputs = [value("x", first.dtype, _input_shape(spec, first)), *placed.inputs]
    inputs += [value(name, held.dtype.name, held.shape) for name, held in graph.fed.items()]
    listed = {
        name: held
        for name, held in graph.constants.items()
        if spec.overridable == "all" or (spec.overridable == "pads" and name.endswith("_pads"))
    }
    inputs += [value(name, held.dtype.name, held.shape) for name, held in listed.items()]
    proto = helper.make_graph(graph.nodes, "random", inputs, outputs, initializers(graph.constants))
    imports = [helper.make_opsetid("", spec.opset), helper.make_opsetid(MICROSOFT, 1)]
    if placed.functions:
        imports.append(helper.make_opsetid(LOCAL, 1))
    return helper.make_model(
        proto,
        ir_version=3 if spec.overridable == "all" and spec.opset < 9 else 8,
        opset_imports=imports,
        functions=placed.functions,
    )
