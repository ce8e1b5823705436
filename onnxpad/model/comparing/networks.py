"""A model as validation sees it: what goes in, what comes out, and its nodes as plain values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from math import prod
from os import PathLike, getpid
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
)

from onnxpad.errors import ModelError, headline
from onnxpad.model.files.external import external_tensors
from onnxpad.model.files.splicing import UnreadFile
from onnxpad.model.graph.context import stored_value
from onnxpad.model.graph.inlined import inlined
from onnxpad.model.graph.nodes import bodies, every_node
from onnxpad.model.graph.types import Type
from onnxpad.model.opened import ModelLike, Opened, open_model
from onnxpad.model.shapes.dimensions import Dimensions
from onnxpad.padding.operators import PLAIN_DOMAINS, plain_domain

Array = NDArray[Any]
_DEFAULTS_SINCE = 4
# Of the types that numpy holds in one byte, those that are one in a file.
_WHOLE_BYTES = {TensorProto.BOOL, TensorProto.INT8, TensorProto.UINT8}
# What onnx and numpy raise where a tensor or an attribute is damaged.
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError)


class Network:
    """A model and the folder of its external data. The model is never changed.

    In `model` local functions are inlined, so that what they hold can be compared node by node;
    `given` is what is run and proved. `left` is the file that it was read from, where large weights
    stayed there; `file` is a path to it where `given` is all that it holds, and the system
    has one that outlives a new name of the file.
    """

    def __init__(
        self,
        model: ModelProto,
        folder: Path | None = None,
        left: UnreadFile | None = None,
        file: Path | None = None,
    ) -> None:
        self.given = model
        self.model = inlined(model, everything=True).model
        self.folder = folder
        self.left = left
        self.file = file

    @property
    def outside(self) -> Path | Callable[[TensorProto], Iterator[bytes]] | None:
        """Where values lie that the model refers to: its folder, or what reads its own file."""
        return self.folder if self.left is None else self.left.blocks

    def like(self, model: ModelProto) -> Network:
        """The network of `model`, which reads its weights where this one does."""
        return Network(model, self.folder, self.left)

    def refuse_changed(self) -> None:
        """Raise ModelError where large weights stayed in a file that was changed since."""
        if self.left is not None:
            self.left.refuse_changed()

    @cached_property
    def nodes(self) -> list[NodeProto]:
        """Nodes of the main graph."""
        return list(self.model.graph.node)

    @cached_property
    def initializers(self) -> dict[str, TensorProto]:
        """Initializers of the main graph, and tensors that Constant nodes hold.

        Those that stayed in the file have no values: `tensor` gives them.
        """
        found = {tensor.name: tensor for tensor in self.model.graph.initializer}
        for node in self.nodes:
            is_constant = node.op_type == "Constant" and node.domain in PLAIN_DOMAINS
            if is_constant and node.output and (tensor := stored_value(node)) is not None:
                found[node.output[0]] = tensor
        return found

    @cached_property
    def fed(self) -> tuple[str, ...]:
        """Inputs that a caller must give: those without a default value."""
        names = (value.name for value in self.model.graph.input)
        return tuple(name for name in names if name not in self.initializers)

    @cached_property
    def replaceable(self) -> tuple[str, ...]:
        """Inputs that a caller may give in place of an initializer: since IR version 4."""
        names = (value.name for value in self.model.graph.input)
        old = self.model.ir_version < _DEFAULTS_SINCE
        return () if old else tuple(name for name in names if name in self.initializers)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(value.name for value in self.model.graph.output)

    @cached_property
    def producers(self) -> dict[str, int]:
        """The index of the node that makes each tensor; Constant nodes make none."""
        return {
            name: index
            for index, node in enumerate(self.nodes)
            for name in node.output
            if name and name not in self.initializers
        }

    @property
    def tensors(self) -> list[str]:
        """Outputs, then every tensor that a node makes."""
        return [*self.outputs, *(name for name in self.producers if name not in self.outputs)]

    @cached_property
    def opsets(self) -> dict[str, int]:
        """Version of each operator set."""
        return {plain_domain(one.domain): one.version for one in self.model.opset_import}

    @cached_property
    def outside_bytes(self) -> int:
        """Bytes of the files with external data of the main graph."""
        if self.left is not None:
            return 0
        entries = (item for tensor in self.initializers.values() for item in tensor.external_data)
        files = {entry.value for entry in entries if entry.key == "location"}
        paths = [(self.folder or Path()) / name for name in files]
        return sum(path.stat().st_size for path in paths if path.is_file())

    def input_types(self, dims: Mapping[str, int | str] | None = None) -> dict[str, Type]:
        """Element type and sizes of every input that must be given.

        Raises RequestError where `dims` names a dimension that no input has.
        """
        dimensions = Dimensions(dims)
        types = {
            value.name: dimensions.type_of(value.type, value.name, is_input=True)
            for value in self.model.graph.input
        }
        dimensions.check_used()
        return {name: types[name] for name in self.fed}

    def stated_types(self) -> dict[str, Type]:
        """Element types and sizes that the file states of outputs and other tensors."""
        dimensions = Dimensions(None)
        graph = self.model.graph
        return {
            value.name: dimensions.type_of(value.type, value.name)
            for value in (*graph.value_info, *graph.output)
        }

    def constant(self, name: str) -> Array | None:
        """The value of an initializer or Constant; external data is read from the folder.

        Raises ModelError where the data file is missing, or was changed.
        """
        tensor = self.tensor(name)
        try:
            folder = str(self.folder or "")
            return None if tensor is None else numpy_helper.to_array(_bounded(tensor), folder)
        except _UNREADABLE as error:
            said = headline(error)
            raise ModelError(f"initializer '{name}' cannot be read: {said}") from error

    def tensor(self, name: str) -> TensorProto | None:
        """An initializer or Constant with its values, but for external data.

        Raises ModelError where the model's file was changed.
        """
        tensor = self.initializers.get(name)
        return tensor if tensor is None or self.left is None else self.left.completed(tensor)

    def reads(self, indices: Iterable[int], values: Mapping[str, Array]) -> dict[str, Array]:
        """Those of `values` that the nodes at `indices` read."""
        names = self.names_read(indices)
        return {name: value for name, value in values.items() if name in names}

    def names_read(self, indices: Iterable[int]) -> set[str]:
        """Tensors that the nodes at `indices` read, in their bodies too."""
        return {name for index in indices for name in free_names(self.nodes[index])}

    def behind(self, tensors: Iterable[str], stops: Collection[str] = ()) -> list[int]:
        """Indices of the nodes that make tensors, back to the inputs or to tensors in `stops`."""
        pending, found = list(tensors), set[int]()
        for name in pending:  # which grows
            index = self.producers.get(name)
            if index is not None and index not in found and name not in stops:
                found.add(index)
                pending += free_names(self.nodes[index])
        return sorted(found)

    def label(self, tensor: str) -> str:
        """Operator and name of the node that makes a tensor."""
        return label_of(self.nodes[self.producers[tensor]])

    def serialised(self, more: bytes = b"") -> bytes:
        """The model's bytes and `more` behind; names of external data stay relative to `folder`.

        Raises ModelError where the model's file was changed.
        """
        if self.left is not None:
            return self.left.serialised(self.given, more)
        data: bytes = self.given.SerializeToString()
        return data + more if more else data


def open_network(model: ModelLike | Opened, folder: Path | None = None) -> Network:
    """A network from any kind of model; large weights stay in the file that it is read from.

    `folder` is where a model in memory has its external data. Raises ModelError where the file
    cannot be read, RequestError for any other kind of value.
    """
    opened = model if isinstance(model, Opened) else open_model(model)
    folder, left = opened.folder or folder, opened.source.left if opened.source else None
    if left is None or any(external_tensors(opened.model)):
        return Network(opened.whole, folder)
    file = None
    if isinstance(model, str | PathLike):  # stays the same file if renamed
        file = Path(f"/proc/{getpid()}/fd/{left.descriptor}")
    return Network(opened.model, folder, left, file if file and file.exists() else None)


def label_of(node: NodeProto) -> str:
    """Operator and name as people write them; the first output names a nameless node."""
    return f"{node.op_type} '{node.name or next(iter(node.output), '?')}'"


def free_names(node: NodeProto) -> set[str]:
    """Tensors that a node reads: its inputs and what its bodies take from outside."""
    names = {name for name in node.input if name}
    for body in bodies(node):
        names |= _outer_names(body)
    return names


def _outer_names(graph: GraphProto) -> set[str]:
    known = {value.name for value in graph.input} | {t.name for t in graph.initializer}
    known |= {name for node in graph.node for name in node.output}
    used = {value.name for value in graph.output}
    for node in graph.node:
        used |= free_names(node)
    return used - known


def _bounded(tensor: TensorProto) -> TensorProto:
    """The tensor with the length of its external data, which the file may leave out.

    onnxruntime then reads as much as the sizes need; onnx would read the file to its end.
    """
    size = helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    is_whole = size > 1 or tensor.data_type in _WHOLE_BYTES
    if tensor.data_location != TensorProto.EXTERNAL or not is_whole:
        return tensor
    found = TensorProto()
    found.CopyFrom(tensor)
    found.external_data.add(key="length", value=str(size * prod(tensor.dims)))
    return found


_DRAWING = {
    *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
    *("Bernoulli", "Multinomial"),
}


def random_nodes(network: Network) -> list[str]:
    """Labels of the nodes that draw random numbers and that an output depends on."""
    return [
        label_of(network.nodes[index])
        for index in network.behind(network.outputs)
        if any(_draws(network, node) for node in every_node([network.nodes[index]]))
    ]


def _draws(network: Network, node: NodeProto) -> bool:
    """Whether a node is random; a Dropout where `training_mode` is not false, nor the ratio 0.

    ONNX Operators, Dropout: without `training_mode` it hands its input on.
    """
    if node.op_type != "Dropout" or not node.input[2:] or not node.input[2]:
        return node.op_type in _DRAWING
    training, ratio = (network.constant(name) if name else None for name in node.input[2:0:-1])
    return all(value is None or bool(value.any()) for value in (training, ratio))
