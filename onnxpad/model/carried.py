"""Models that come in other forms: bytes, onnx_ir, what holds an onnx_ir model, onnxscript.

Their libraries are never imported here: who hands such a value over has done so.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import ModelProto

from onnxpad.model.files.onnx_file import Source, parse

_NAME = "model.onnx"
"""Stands for the file of a model in memory, whose folder holds its external data."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A model as a ModelProto; `original` is what came in, `back` makes the same kind of it."""

    proto: ModelProto
    source: Source | None
    original: object = field(repr=False)
    back: Callable[[ModelProto], Any]

    def returned(self, model: ModelProto, *, changed: bool) -> Any:  # noqa: ANN401
        """What came in where nothing changed, else the edited model in that form."""
        return self.back(model) if changed else self.original


def carried(model: object) -> Carried | None:
    """The model in a value of such a form; None for any other value.

    Raises ModelError for bytes that are no model.
    """
    if isinstance(model, bytes | bytearray | memoryview):
        data = bytes(model)
        proto = parse(data, name="the model in memory", folder=None)
        return Carried(proto, Source(None, data), model, ModelProto.SerializeToString)
    library = sys.modules.get("onnx_ir")
    if library is not None:
        held = getattr(model, "model", None)
        if isinstance(model, library.Model):
            return _of_ir(library, model, model, lambda new: new)
        if isinstance(held, library.Model):  # torch.onnx.ONNXProgram
            return _of_ir(library, held, model, lambda new: _holding(model, new))
    convert = getattr(type(model), "to_model_proto", None)
    if convert is not None:  # an onnxscript function
        return Carried(convert(model), None, model, lambda new: new)
    return None


def _of_ir(library: Any, held: Any, original: object, back: Callable[[Any], Any]) -> Carried:  # noqa: ANN401
    folders = {
        tensor.base_dir
        for value in held.graph.initializers.values()
        if isinstance(tensor := value.const_value, library.ExternalTensor)
    }
    folder = str(folders.pop()) if len(folders) == 1 else None

    def restored(proto: ModelProto) -> Any:  # noqa: ANN401
        new = library.from_proto(proto)
        if folder is not None:
            library.external_data.set_base_dir(new.graph, folder)
        return back(new)

    source = None if folder is None else Source(Path(folder).absolute() / _NAME, None)
    return Carried(library.to_proto(held), source, original, restored)


def _holding(program: Any, model: Any) -> Any:  # noqa: ANN401
    """A program like this one around another model; sessions that it has opened stay behind."""
    new = copy.copy(program)
    new.model = model
    if hasattr(new, "_inference_session"):
        new._inference_session = None  # noqa: SLF001 - what its own release() does
    return new
