"""onnx's shape inference: here where its cost is bounded, else in a child process."""

from __future__ import annotations

from collections.abc import Mapping

import onnx
from onnx import ModelProto

from onnxpad import processes
from onnxpad.model.shapes.inference_bounds import is_bounded
from onnxpad.processes import Buffer, ChildEnded, ChildError, Limits, Reply

_MODULE = "onnxpad.model.shapes.native_inference"
_WHAT = "onnx's shape inference"
SECONDS, MEMORY = 5.0, 2**29
"""What one inference may take in a child, where nobody says otherwise."""


def infer_shapes(
    model: ModelProto, *, data_prop: bool = False, strict_mode: bool = False
) -> ModelProto:
    """`onnx.shape_inference.infer_shapes`, in a child where nothing bounds its cost.

    Raises what onnx raises; LimitMet where the child was ended at its limit, and ChildEnded where
    it ended otherwise. A work whose limit was met begins no further one.
    """
    if is_bounded(model, data_prop=data_prop):
        return _infer(model, data_prop=data_prop, strict_mode=strict_mode)
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
