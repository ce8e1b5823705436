"""A graph while it is built: nodes, and constants held where the spec wants them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[Any]
INT64_MAX = 2**63 - 1


@dataclass
class Graph:
    """`held` is "initializer" or "Constant"; equal constants are one where they are `shared`."""

    opset: int
    held: str = "initializer"
    shared: bool = False
    named: bool = True
    mark: str = ""
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    fed: dict[str, Array] = field(default_factory=dict)
    others: dict[str, Array] = field(default_factory=dict)

    def constant(self, name: str, value: Any, dtype: str = "int64") -> str:
        array, name = np.asarray(value, dtype), self.mark + name
        if name in self.constants or any(name in node.output for node in self.nodes):
            return name
        if self.held == "Constant":
            tensor = numpy_helper.from_array(array)
            return self.nodes_outputs("Constant", [], [name], value=tensor)
        for other, known in self.constants.items() if self.shared else ():
            if known.dtype == array.dtype and np.array_equal(known, array):
                return other
        self.constants[name] = array
        return name

    def node(self, op: str, inputs: Sequence[str], output: str, **more: Any) -> str:
        """Add a node of one output, whose name (without the graph's mark) is `output`."""
        return self.nodes_outputs(op, inputs, [self.mark + output], **more)

    def nodes_outputs(self, op: str, inputs: Sequence[str], outputs: list[str], **more: Any) -> str:
        name = f"node {outputs[0]}" if self.named else ""
        self.nodes.append(helper.make_node(op, inputs, outputs, name, **more))
        return outputs[0]

    def unsqueezed(self, tensor: str, axis: int, output: str) -> str:
        if self.opset < 13:
            return self.node("Unsqueeze", [tensor], output, axes=[axis])
        axes = self.constant(f"{output}_axes", [axis])
        return self.node("Unsqueeze", [tensor, axes], output)

    def cut(self, tensor: str, axis: int, start: int, output: str) -> str:
        """A Slice of one axis from `start` to the end."""
        if self.opset < 10:
            ends = [INT64_MAX]
            return self.node("Slice", [tensor], output, starts=[start], ends=ends, axes=[axis])
        bounds = {"starts": [start], "ends": [INT64_MAX], "axes": [axis]}
        names = [self.constant(f"{output}_{key}", value) for key, value in bounds.items()]
        return self.node("Slice", [tensor, *names], output)


def initializers(constants: dict[str, Array]) -> list[onnx.TensorProto]:
    return [numpy_helper.from_array(value, name) for name, value in constants.items()]


def value(name: str, dtype: str, shape: Sequence[int | str | None] | None) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, shape)
