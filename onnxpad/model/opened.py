"""What people hand over as a model: a path, a ModelProto, a graphsurgeon Graph, or `Carried`.

Libraries of other forms are never imported here: who hands such a value over has done so.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from onnx import ModelProto

from onnxpad.errors import RequestError, suspect
from onnxpad.model.files.external import external_tensors, origin_of
from onnxpad.model.files.onnx_file import Source, completed, parse, read

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    import onnx_ir as ir

Model: TypeAlias = ModelProto
ModelOrGraph: TypeAlias = Union[ModelProto, "gs.Graph"]
ModelLike: TypeAlias = Union[str, "os.PathLike[str]", bytes, ModelProto, "gs.Graph", "ir.Model"]
_NAME = "model.onnx"
"""Stands for the file of a model in memory, whose folder holds its external data."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A model that came as bytes, as an onnx_ir model or what holds one, or from onnxscript.

    original: what came in. back: makes the same kind of it from a ModelProto.
    """

    proto: ModelProto
    source: Source | None
    original: object = field(repr=False)
    back: Callable[[ModelProto], Any]


@dataclass(frozen=True, eq=False)
class Opened:
    """A model ready to be worked on.

    `owned` says that `model` may be changed in place. Large weights of a file are left out of it.
    `surgeon` is the Graph that was given; `model` then holds its structure without weights.
    `carried` knows what the model came in.
    """

    model: ModelProto
    source: Source | None
    owned: bool
    surgeon: gs.Graph | None = None
    carried: Carried | None = None

    @property
    def folder(self) -> Path | None:
        """Where its external data is."""
        return self.source.folder if self.source else None

    @property
    def whole(self) -> ModelProto:
        """The model with all its weights; a Graph is exported by graphsurgeon itself."""
        return proto_of(self.surgeon or completed(self.model, self.source))

    @property
    def keeps_functions(self) -> str:
        """Why functions are not written out where they are called; '' where they are."""
        return "a Graph keeps its functions" if self.surgeon is not None else ""


def open_model(model: ModelLike) -> Opened:
    """Open any kind of model; RequestError for anything else, ModelError for a bad file."""
    suspect(partial(refusal_of_onnx, model))
    if isinstance(model, str | os.PathLike):
        proto, source = read(model, light=True)
        return Opened(proto, source, owned=True)
    if isinstance(model, ModelProto):
        found_at = origin_of(model)
        return Opened(model, Source(found_at, None) if found_at else None, owned=False)
    if _is_surgeon_graph(model):
        from onnxpad.model.editing.graphsurgeon import structure_of

        return Opened(structure_of(model), None, owned=True, surgeon=model)
    if found := _carried(model):
        return Opened(found.proto, found.source, owned=False, carried=found)
    raise RequestError(
        "a model is a path, bytes, a ModelProto, an onnx_ir.Model, an onnx_graphsurgeon.Graph or "
        f"an onnxscript function, not {type(model).__name__}"
    )


def proto_of(model: Any) -> ModelProto:  # noqa: ANN401 - what it is is asked
    """The model as a ModelProto; a Graph is exported by graphsurgeon itself."""
    if isinstance(model, ModelProto):
        return model
    import onnx_graphsurgeon as gs

    exported: ModelProto = gs.export_onnx(model)
    return exported


def named_copy(opened: Opened, names: Mapping[int, str]) -> tuple[bytes, Path | None]:
    """The model as bytes, with other names for nodes of the main graph, by their place in it.

    With it comes the folder of its external data.
    """
    model = ModelProto()
    model.CopyFrom(opened.whole)
    for key, name in names.items():
        model.graph.node[key].name = name
    return model.SerializeToString(), opened.folder


def untouched(opened: Opened) -> ModelOrGraph:
    """What was opened as it was, although a session has changed it since.

    A session works on a copy of what is not owned, and nothing reaches a Graph before the end.
    """
    parsed = opened.source.parsed if opened.source else None
    as_read = ModelProto.FromString(parsed) if opened.owned and parsed is not None else opened.model
    return as_read if opened.surgeon is None else opened.surgeon


def _is_surgeon_graph(model: object) -> bool:
    library = sys.modules.get("onnx_graphsurgeon")
    return library is not None and isinstance(model, library.Graph)


def _carried(model: object) -> Carried | None:
    """The model in a value of another form; None for any other value."""
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
            return _of_ir(library, held, model, partial(_holding, model))
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
    """A program like this one around another model; a session that it has opened stays behind."""
    new = copy.copy(program)
    new.model, new._inference_session = model, None  # noqa: SLF001 - what its own release() does
    return new


def refusal_of_onnx(model: ModelLike) -> str | None:
    """What onnx's checker says against a model; None where it takes it or is not asked."""
    from onnx import checker

    try:
        if isinstance(model, str | os.PathLike) and Path(model).is_file():
            checker.check_model(os.fspath(model))
        elif isinstance(model, ModelProto) and not any(external_tensors(model)):
            checker.check_model(model)
    except checker.ValidationError as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0].rstrip(".")
        return f"onnx's checker refuses it: {reason}; mend it, or export it again"
    except Exception:  # noqa: BLE001 - it is asked because something else went wrong
        return None
    return None
