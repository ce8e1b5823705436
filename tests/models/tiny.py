"""Models of a few nodes, written as onnx text, and what becomes of them.

In the text `x` is the input, `y` the output, and the node that a test is about is called `op`:
`[op] y = Conv <pads = [1, 1]> (x, w)`.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray

from onnxpad import Rewriting, Skip, rewrite
from tests.models.text import text_model
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran

Array = NDArray[Any]
W = "float[1,1,3] w = {1, 10, 100}"


def tiny(
    body: str,
    x: str = "float[1,1,5]",
    *,
    constants: str = "",
    opset: int = 17,
    result: str = "float[]",
    inputs: str = "",
    ir_version: int = 8,
) -> onnx.ModelProto:
    """A model of the nodes in `body`; `w` is [1, 10, 100] where the nodes read it."""
    reads_w = "w)" in body or "w," in body
    held = [W] if reads_w and " w =" not in constants else []
    held += [constants] if constants else []
    given = f"{x} x" + (f", {inputs}" if inputs else "")
    result, constants = f"{result} y", ", ".join(held)
    return text_model(body, given, outputs=result, constants=constants, opset=opset, ir=ir_version)


def numbers(*values: float, dtype: str = "float32") -> Array:
    """An input of one channel with these cells."""
    return np.asarray(values, dtype)[None, None]


X5, X6, X8 = (numbers(*range(1, size + 1)) for size in (5, 6, 8))


def values(model: onnx.ModelProto, x: Array, **more: Array) -> list[float]:
    """The output by the test interpreter, as a flat list."""
    found: list[float] = run_model(model, {"x": x, **more})["y"].ravel().tolist()
    return found


def by_onnxruntime(
    model: onnx.ModelProto, x: Array, *, optimised: bool = False
) -> list[float] | str:
    """The output by onnxruntime as a flat list, or its refusal."""
    found = ran(model, {"x": x}, optimised=optimised)
    return found if isinstance(found, str) else found.ravel().tolist()


def nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Nodes of a graph and of the bodies in it."""
    for node in graph.node:
        yield node
        for entry in node.attribute:
            if entry.HasField("g"):
                yield from nodes(entry.g)


def kinds(model: onnx.ModelProto) -> list[str]:
    """Operators in order, without constants."""
    return [node.op_type for node in nodes(model.graph) if node.op_type != "Constant"]


def attributes(model: onnx.ModelProto, name: str = "op") -> dict[str, Any]:
    """What is written on the node called `name`."""
    (found,) = [node for node in nodes(model.graph) if node.name == name]
    got = {entry.name: onnx.helper.get_attribute_value(entry) for entry in found.attribute}
    return {
        key: value.decode() if isinstance(value, bytes) else value for key, value in got.items()
    }


def constant(model: onnx.ModelProto, name: str) -> Array:
    """The value of an initializer."""
    (found,) = [tensor for tensor in model.graph.initializer if tensor.name == name]
    return onnx.numpy_helper.to_array(found)


def done(
    model: onnx.ModelProto,
    rule: str,
    *,
    ambiguous: Literal["auto_pad", "pads"] | None = None,
    dims: dict[str, int | str] | None = None,
    nodes: str | None = None,
) -> Rewriting:
    return rewrite(model, passes=[rule], ambiguous=ambiguous, dims=dims, nodes=nodes)


def rewritten(model: onnx.ModelProto, rule: str, *inputs: Array, **options: Any) -> onnx.ModelProto:
    """The rewritten model, which must differ from the model and compute the same."""
    found = done(model, rule, **options)
    assert found.changed, [refusal.skip for refusal in found.skips]
    assert isinstance(found.model, onnx.ModelProto)
    for x in inputs:
        assert values(found.model, x) == values(model, x)
    return found.model


def refused(model: onnx.ModelProto, rule: str, **options: Any) -> Skip:
    """Why the pass left the one node alone that it might have changed."""
    found = done(model, rule, **options)
    assert not found.changed
    assert found.model == model
    (refusal,) = found.skips
    return refusal.skip
