"""Whether a node is one that the ONNX text allows, as the checker and inference of onnx say it."""

from __future__ import annotations

import re
from functools import lru_cache

import onnx
from onnx import ModelProto, helper

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import is_named, value_info
from onnxpad.model.reading.refusals import NEWEST_OPSET
from onnxpad.padding.operators import PLAIN_DOMAINS

_MOST_BYTES = 4096
_IR_VERSION = 10
_WORDS = re.compile(r"\[\w+\]|Inference error\(s\):|\(op_type:[^)]*\):|={2,}>.*", re.DOTALL)


def objection(context: Context, node: Node) -> str:
    """Why no runtime that keeps to the text loads the node; '' where nothing speaks against it.

    Types, ranks and lengths of attributes and inputs are asked about, as far as they are known;
    values that attributes may have are a matter of their reading.
    """
    opset = context.scope.opset
    in_function = context.scope.outermost.is_function
    if node.domain not in PLAIN_DOMAINS or in_function or not 0 < opset <= NEWEST_OPSET:
        return ""
    alone = _alone(context, node, opset)
    return "" if alone is None else _refused(alone.SerializeToString(deterministic=True), opset)


@lru_cache(maxsize=4096)
def _refused(data: bytes, opset: int) -> str:
    """What onnx says against a model of one node."""
    alone = ModelProto.FromString(data)
    checking = onnx.checker.C.CheckerContext()
    checking.ir_version, checking.opset_imports = _IR_VERSION, {"": opset}
    try:
        onnx.checker.check_node(alone.graph.node[0], checking)
        onnx.shape_inference.infer_shapes(alone, check_type=True, strict_mode=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return " ".join(_WORDS.sub("", str(error)).split())
    return ""


def _alone(context: Context, node: Node, opset: int) -> ModelProto | None:
    """A model of the node; None where the type of an input is not known."""
    model = ModelProto(ir_version=_IR_VERSION, opset_import=[helper.make_opsetid("", opset)])
    model.graph.name = "node"
    model.graph.node.append(node.proto)
    for name in dict.fromkeys(filter(None, node.inputs)):
        value, found = context.constant_tensor(name), context.type_of(name)
        if value is not None and value.ByteSize() <= _MOST_BYTES:
            held = model.graph.initializer.add()
            held.CopyFrom(value)
            held.name = name
        elif is_named(found):
            model.graph.input.append(value_info(name, found))
        else:
            return None
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.outputs if name)
    return model
