"""What a model file says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from onnx import ModelProto, ValueInfoProto

from onnxpad.model.graph.broken import UnknownOperator
from onnxpad.model.graph.nodes import every_node
from onnxpad.padding.operators import OPERATORS, PLAIN_DOMAINS
from onnxpad.reports import reported


@reported("*")
class ModelFacts(NamedTuple):
    """Who wrote a model, its opset, the nodes of its graph, its inputs.

    An input has the sizes that it states (numbers, names, None for unknown ones), or None where it
    states none. `unknown_operators` are those of ONNX's domain that their opset does not have.
    """

    producer: str = ""
    opset: int = 0
    operators: int = 0
    inputs: Mapping[str, tuple[int | str | None, ...] | None] = {}
    unknown_operators: tuple[UnknownOperator, ...] = ()


def operators_of(model: ModelProto) -> Counter[str]:
    """How many nodes there are of each operator, those of bodies and functions included."""
    return Counter(
        node.op_type
        for holder in (model.graph, *model.functions)
        for node in every_node(holder.node)
    )


def kinds_that_cannot_pad(model: ModelProto) -> tuple[str, ...]:
    """The other kinds of operators that a model has, which no target is asked about; sorted."""
    padded = {row.name for row in OPERATORS.values()} | {"Constant"}
    return tuple(sorted(operators_of(model).keys() - padded))


def facts_of(model: ModelProto) -> ModelFacts:
    """Read from the file alone; initializers that are inputs too are left out."""
    opsets = [one.version for one in model.opset_import if one.domain in PLAIN_DOMAINS]
    held = {tensor.name for tensor in model.graph.initializer}
    version = model.producer_version.removesuffix("None")  # tf2onnx outside of a git checkout
    return ModelFacts(
        f"{model.producer_name} {version}".strip(),
        max(opsets, default=0),
        len(model.graph.node),
        {one.name: _sizes(one) for one in model.graph.input if one.name not in held},
    )


def _sizes(value: ValueInfoProto) -> tuple[int | str | None, ...] | None:
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
        for dim in kind.shape.dim
    )
