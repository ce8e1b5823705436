"""Where the operator stands: the main graph, an If, Loop or Scan, a function of the model."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import onnx
from onnx import helper

from tests.random_models.fronts import add_steps
from tests.random_models.graphs import Graph, initializers, value
from tests.random_models.kinds import MICROSOFT
from tests.random_models.operators import (
    REFERRED,
    add_behind,
    add_operator,
    attributes,
    result_type,
    twin,
)
from tests.random_models.spec import Spec
from tests.random_models.stages import stages

LOCAL = "local"


@dataclass(frozen=True)
class Placed:
    """What placing the operator brought: more inputs and outputs, functions.

    `deeper` is how many axes the result gained, `read` the tensor of the main graph that the
    operator reads ("" where it stands elsewhere).
    """

    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    functions: list[onnx.FunctionProto] = field(default_factory=list)
    deeper: int = 0
    read: str = ""


_BRANCHES_DIFFER = 11
"""Since If-11 both branches may give other sizes."""


def _rest(graph: Graph, spec: Spec, tensor: str, referred: tuple[str, ...] = ()) -> list[str]:
    """The remaining steps, the operator and what is behind it; the outputs and what it read."""
    read = add_steps(graph, spec, spec.outside, len(spec.front), tensor)
    raw = "y_raw" if spec.behind else "y"
    made = add_operator(graph, spec, read, raw, referred)
    y = add_behind(graph, spec, made[0], "y") if spec.behind else made[0]
    return [y, *made[1:], read]


def _main(graph: Graph, spec: Spec, tensor: str) -> Placed:
    y, *indices, read = _rest(graph, spec, tensor)
    assert y == "y"
    axes = [f"i_{axis}" for axis in range(spec.rank + 2)]
    return Placed(outputs=[value(name, "int64", axes) for name in indices], read=read)


def _body(graph: Graph, mark: str) -> Graph:
    return Graph(graph.opset, graph.held, graph.shared, graph.named, mark)


def _closed(
    graph: Graph,
    body: Graph,
    spec: Spec,
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
) -> onnx.GraphProto:
    """The body as a graph; its constants are its own, or those of the main graph."""
    own = body.constants if spec.held == "body" else {}
    if not own:
        graph.constants.update(body.constants)
    graph.fed.update(body.fed)
    graph.others.update(body.others)
    return helper.make_graph(body.nodes, f"body{body.mark}", inputs, outputs, initializers(own))


def _if(graph: Graph, spec: Spec, tensor: str) -> Placed:
    branches = {}
    other = twin(spec) if spec.opset >= _BRANCHES_DIFFER else spec
    for key, mark, one in (("then_branch", "a_", spec), ("else_branch", "e_", other)):
        body = _body(graph, mark)
        y = _rest(body, replace(one, indices=False), tensor)[0]
        outputs = [value(y, result_type(spec), None)]
        branches[key] = _closed(graph, body, spec, [], outputs)
    graph.node("If", ["condition"], "y", **branches)
    return Placed(inputs=[value("condition", "bool", [])])


def _loop(graph: Graph, spec: Spec, tensor: str, *, carried: bool = False) -> Placed:
    body = _body(graph, "l_")
    body.node("Identity", ["going"], "go_on")
    inner = "carried" if carried else tensor
    y = _rest(body, replace(spec, indices=False), inner)[0]
    inputs = [value("turn", "int64", []), value("going", "bool", [])]
    outputs = [value("l_go_on", "bool", [])]
    dtype = stages(spec)[spec.outside].dtype
    if carried:
        body.node("Identity", [inner], "kept")
        inputs.append(value(inner, dtype, None))
        outputs.append(value("l_kept", dtype, None))
    outputs.append(value(y, result_type(spec), None))
    proto = _closed(graph, body, spec, inputs, outputs)
    turns = graph.constant("turns", 2)
    made = ["last", "y"] if carried else ["y"]
    given = [turns, "", tensor] if carried else [turns, ""]
    graph.nodes_outputs("Loop", given, made, body=proto)
    return Placed(deeper=1)


def _carried(graph: Graph, spec: Spec, tensor: str) -> Placed:
    return _loop(graph, spec, tensor, carried=True)


def _scan(graph: Graph, spec: Spec, tensor: str) -> Placed:
    """A Scan over the batch, whose body makes a batch of one again."""
    body = _body(graph, "s_")
    whole = body.unsqueezed("row", 0, "whole")
    y = _rest(body, replace(spec, indices=False), whole)[0]
    inputs = [value("row", stages(spec)[spec.outside].dtype, None)]
    outputs = [value(y, result_type(spec), None)]
    proto = _closed(graph, body, spec, inputs, outputs)
    graph.node("Scan", [tensor], "y", body=proto, num_scan_inputs=1)
    return Placed(deeper=1)


def _function(
    graph: Graph, spec: Spec, *, referred: tuple[str, ...] = ()
) -> tuple[Placed, list[str]]:
    """A function of the remaining nodes; its constants are inputs or Constant nodes."""
    body = _body(graph, "f_")
    y = _rest(body, replace(spec, indices=False), "data", referred)[0]
    graph.constants.update(body.constants)
    graph.fed.update(body.fed)
    graph.others.update(body.others)
    given = [*body.constants, *body.fed]
    imports = [helper.make_opsetid("", spec.opset), helper.make_opsetid(MICROSOFT, 1)]
    function = helper.make_function(
        LOCAL, "Block", ["data", *given], [y], body.nodes, imports, list(referred)
    )
    return Placed(functions=[function]), given


def _called_once(graph: Graph, spec: Spec, tensor: str) -> Placed:
    placed, given = _function(graph, spec)
    graph.node("Block", [tensor, *given], "y", domain=LOCAL)
    return placed


def _called_twice(graph: Graph, spec: Spec, tensor: str) -> Placed:
    """Once on the data, and once on the data without its first cells."""
    placed, given = _function(graph, spec)
    graph.node("Block", [tensor, *given], "y", domain=LOCAL)
    stage = stages(spec)[spec.outside]
    axis = next(index for index, name in enumerate(stage.axes) if isinstance(name, int))
    less = graph.cut(tensor, axis, 1, "less")
    graph.node("Block", [less, *given], "z", domain=LOCAL)
    outputs = [value("z", result_type(spec), [f"z_{n}" for n in range(spec.rank + 2)])]
    return replace(placed, outputs=outputs)


def _called_with_attributes(graph: Graph, spec: Spec, tensor: str) -> Placed:
    """Two calls that bind the attributes of the operator otherwise."""
    other = replace(spec, strides=tuple(np.roll(spec.strides, 1).tolist()), pads=spec.pads[::-1])
    referred = tuple(name for name in REFERRED if name in attributes(spec))
    placed, given = _function(graph, spec, referred=referred)
    for name, one in (("y", spec), ("z", other)):
        bound = {key: attributes(one)[key] for key in referred}
        graph.node("Block", [tensor, *given], name, domain=LOCAL, **bound)
    outputs = [value("z", result_type(spec), [f"z_{n}" for n in range(spec.rank + 2)])]
    return replace(placed, outputs=outputs)


PLACES: dict[str, Callable[[Graph, Spec, str], Placed]] = {
    "main": _main,
    "if": _if,
    "loop": _loop,
    "loop carried": _carried,
    "scan": _scan,
    "function": _called_once,
    "function twice": _called_twice,
    "function attributes": _called_with_attributes,
}
