"""What the file of a model holds besides padding, where a runtime stops at it, and the cure."""

from __future__ import annotations

from onnxpad.runtimes.conditions.rows import Condition

INLINED = Condition.remedy(
    "it has no local functions; that is not about padding",
    "inline the functions: onnx.inliner.inline_local_functions",
)
SORTED = Condition.remedy(
    "it wants each node behind those that it reads; that is not about padding",
    "sort the nodes, as onnx.checker asks",
)
DECLARED = Condition.remedy(
    "it wants a shape for each input and result of a graph, those of branches too, be its sizes "
    "open; that is not about padding",
    "declare them: onnx.shape_inference.infer_shapes does where it finds them",
)
LISTED = Condition.remedy(
    "it reads stored bools from raw_data alone; that is not about padding",
    "store that tensor in raw_data, as onnx.numpy_helper.from_array does",
)
OLDER_IR = Condition.remedy(
    "it opens files of older IR versions alone; that is not about padding",
    "lower it: model.ir_version = N, with an opset that came with N or before",
)
FOLDED = Condition.remedy(
    "it has no convolution and no pool of what is constant; that is not about padding",
    "fold the constants, as onnxsim does",
)
EMBEDDED = Condition.remedy(
    "it does not read weights from a file beside the model; that is not about padding",
    "store them in the model: onnx.save(onnx.load('FILE.onnx'), 'WHOLE.onnx')",
)
