"""What people hand over as a model: a path, a ModelProto, a graphsurgeon Graph, or `carried`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from google.protobuf.descriptor import (  # type: ignore[import-untyped, unused-ignore]
    FieldDescriptor,
)
from google.protobuf.message import Message  # type: ignore[import-untyped, unused-ignore]
from onnx import ModelProto

from onnxpad.errors import RequestError, suspect
from onnxpad.model.files.contents import is_standard
from onnxpad.model.files.left_weights import LeftWeights, refer
from onnxpad.model.files.onnx_file import Source, completed, read, read_unread
from onnxpad.model.files.origins import origin_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    import onnx_ir as ir

    from onnxpad.model.carried import Carried

Model: TypeAlias = ModelProto
ModelOrGraph: TypeAlias = Union[ModelProto, "gs.Graph"]
ModelLike: TypeAlias = Union[str, "os.PathLike[str]", bytes, ModelProto, "gs.Graph", "ir.Model"]


@dataclass(frozen=True, eq=False)
class Opened:
    """A model ready to be worked on.

    `owned` says that `model` may be changed in place. Large weights of a file are left out of it
    (`with_weights` brings them back). `surgeon` is the Graph that was given;
    `model` then holds its structure without weights. `carried` knows what the model came in.
    """

    model: ModelProto
    source: Source | None
    owned: bool
    surgeon: gs.Graph | None = None
    carried: Carried | None = None

    @property
    def keeps_functions(self) -> str:
        """Why functions are not written out where they are called; '' where they are."""
        return "a Graph keeps its functions" if self.surgeon is not None else ""


def named_copy(opened: Opened, names: Mapping[int, str]) -> tuple[bytes, Path | None]:
    """The model as bytes, with other names for nodes of the main graph, by their place in it.

    With it comes the folder of its external data.
    """
    if opened.surgeon is not None:
        model = proto_of(opened.surgeon)
    else:
        model = ModelProto()
        model.CopyFrom(proto_of(with_weights(opened.model, opened.source)))
    for key, name in names.items():
        model.graph.node[key].name = name
    return model.SerializeToString(), opened.source.folder if opened.source else None


def is_surgeon_graph(model: object) -> bool:
    """Whether this is an onnx_graphsurgeon.Graph; the library is not imported for that."""
    library = sys.modules.get("onnx_graphsurgeon")
    return library is not None and isinstance(model, library.Graph)


def with_weights(model: ModelOrGraph, source: Source | None) -> ModelOrGraph:
    """The model with the weights that were left out when its file was read."""
    return completed(model, source) if isinstance(model, ModelProto) else model


def untouched(opened: Opened) -> ModelOrGraph:
    """What was opened as it was, although a session has changed it since.

    A session works on a copy of what is not owned, and nothing reaches a Graph before the end.
    """
    if opened.surgeon is not None:
        return opened.surgeon
    parsed = opened.source.parsed if opened.source else None
    if not opened.owned or parsed is None:
        return opened.model
    model = ModelProto()
    model.ParseFromString(parsed)
    return model


def proto_of(model: ModelOrGraph) -> ModelProto:
    """The model as a ModelProto; a Graph is exported by graphsurgeon itself."""
    if isinstance(model, ModelProto):
        return model
    if not is_surgeon_graph(model):
        raise _no_model(model)
    import onnx_graphsurgeon as gs

    exported: ModelProto = gs.export_onnx(model)
    return exported


def open_model(model: ModelLike) -> Opened:
    """Open any kind of model; RequestError for anything else, ModelError for a bad file."""
    suspect(partial(refusal_of_onnx, model))
    if isinstance(model, str | os.PathLike):
        proto, source = read(model, light=True)
        return Opened(proto, source, owned=True)
    if isinstance(model, ModelProto):
        found_at = origin_of(model)
        return Opened(model, Source(found_at, None) if found_at else None, owned=False)
    if is_surgeon_graph(model):
        from onnxpad.model.editing.graph_as_model import structure_of

        return Opened(structure_of(model), None, owned=True, surgeon=model)
    if found := _carried(model):
        return Opened(found.proto, found.source, owned=False, carried=found)
    raise _no_model(model)


def _carried(model: object) -> Carried | None:
    from onnxpad.model.carried import carried  # only what is no file and no ModelProto needs it

    return carried(model)


def whole_model(model: ModelLike) -> tuple[ModelProto, Path | None]:
    """Any kind of model with all its weights, and the folder of its file; errors as above."""
    suspect(partial(refusal_of_onnx, model))
    if isinstance(model, str | os.PathLike):
        proto, source = read(model)
        return proto, source.folder
    if not isinstance(model, ModelProto) and (found := _carried(model)):
        return found.proto, found.source.folder if found.source else None
    return proto_of(model), None


def referring_model(
    model: ModelLike | Opened,
) -> tuple[ModelProto, Path | None, LeftWeights | None]:
    """The same; large weights of a file stay there where that is possible, and are referred to.

    What was opened is not changed; it has to be a file.
    """
    if isinstance(model, Opened):
        proto = ModelProto()
        proto.CopyFrom(proto_of(model.model))
        left = refer(proto, model.source) if model.source else None
        folder = model.source.folder if model.source else None
        return (proto if left else completed(proto, model.source)), folder, left
    if isinstance(model, str | os.PathLike):
        suspect(partial(refusal_of_onnx, model))
        if not is_standard(model) and (found := read_unread(model)):
            proto, source = found
            left = refer(proto, source)
            return (proto if left else completed(proto, source)), source.folder, left
    return (*whole_model(model), None)


def refusal_of_onnx(model: ModelLike) -> str | None:
    """What onnx says against a model, or its own texts; None where it takes it or is not asked."""
    from onnx import checker, load

    from onnxpad.model.files.external import external_tensors

    try:
        path = os.fspath(model) if isinstance(model, str | os.PathLike) else None
        if path is not None and not Path(path).is_file():
            return None
        proto = model if path is None else load(path, load_external_data=False)
        if isinstance(proto, ModelProto) and (broken := _no_text(proto)) is not None:
            return f"the text {broken!r:.80} in it is no UTF-8; mend it, or export it again"
        if path is not None:
            checker.check_model(path)
        elif isinstance(proto, ModelProto) and not any(external_tensors(proto)):
            checker.check_model(proto)
    except checker.ValidationError as error:
        said = (str(error).strip().splitlines() or ["no reason given"])[0].rstrip(".")
        return f"onnx's checker refuses it: {said}; mend it, or export it again"
    except Exception:  # noqa: BLE001 - it is asked because something else went wrong
        return None
    return None


def _no_text(message: Message) -> bytes | None:
    """The first name, operator or doc string of a message, at any depth, that is no UTF-8."""
    for field, value in message.ListFields():
        if field.type not in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE):
            continue
        for item in [value] if isinstance(value, str | bytes | Message) else value:
            if isinstance(item, bytes):
                return item
            if isinstance(item, Message) and (found := _no_text(item)) is not None:
                return found
    return None


def _no_model(given: object) -> RequestError:
    kind = type(given).__name__
    return RequestError(
        "a model is a path, bytes, a ModelProto, an onnx_ir.Model, an onnx_graphsurgeon.Graph or "
        f"an onnxscript function, not {kind}"
    )
