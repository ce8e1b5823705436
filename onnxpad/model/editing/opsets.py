"""The edits after which the nodes of a model are of another opset and compute the same.

Only what was read in both texts is moved: operators whose text differs in types alone, and those
that read as an input what was an attribute. Everything else keeps the model where it is.

Of 20 models that are moved so, the version_converter of onnx 1.23.2 refuses 5 (Pad, Split, Softmax
and Reshape to older texts) and writes one that no runtime loads (ReduceMean without axes); of 13
that stay it writes 2 that do not compute the same (Hardmax, PRelu). It wants all weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from onnx import defs, helper

from onnxpad.model.editing.names import Names, as_nodes, next_key, stem
from onnxpad.model.editing.script import (
    Edit,
    MoveOpset,
    NewConstant,
    RemoveAttribute,
    RemoveConstant,
    SetAttribute,
    SetInput,
)
from onnxpad.model.graph.attributes import Value
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import address_of
from onnxpad.padding.operators import PLAIN_DOMAINS, AttributeValue, Since

_SAME = frozenset(
    """
    Abs Add And AveragePool BatchNormalization Cast Ceil Clip Concat Constant
    ConstantOfShape Conv ConvInteger ConvTranspose Cos DepthToSpace DequantizeLinear Div
    Dropout Elu Equal Erf Exp Expand Flatten Floor Gather Gemm GlobalAveragePool GlobalMaxPool
    Greater HardSigmoid HardSwish Identity If InstanceNormalization LRN LayerNormalization
    LeakyRelu Less Log Loop LpPool MatMul Max MaxPool Mean Min Mod Mul Neg Not Or PRelu Pad
    Pow QLinearConv QuantizeLinear Range Reciprocal ReduceL1 ReduceL2 ReduceMax ReduceMean
    ReduceMin ReduceProd ReduceSum Relu Reshape Resize Round Selu Shape Sigmoid Sign Sin Size
    Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Tanh Tile
    Transpose Unsqueeze Where
    """.split()  # noqa: SIM905
)
"""Operators of which the texts of all opsets say the same of what a node can say in both."""
_AS_INPUT: dict[str, dict[str, int]] = {
    "Squeeze": {"axes": 1},
    "Unsqueeze": {"axes": 1},
    "Split": {"split": 1},
    "Pad": {"pads": 1, "value": 2},
    "Slice": {"starts": 1, "ends": 2, "axes": 3},
    "Clip": {"min": 1, "max": 2},
    "Dropout": {"ratio": 1},
}
_AS_INPUT |= {
    f"Reduce{kind}": {"axes": 1} for kind in ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum")
}
"""What is an attribute in older texts and an input in newer ones: the attribute, the position."""
_ABOUT_INPUT = ("allowzero", "noop_with_empty_axes")
"""Attributes that say what a 0 in the shape, or an empty list of axes, means."""
_BASIC = frozenset({"float32", "float16", "int64", "int32", "bool", "int8", "uint8"})
_NAMES = {"float": "float32", "double": "float64"}


NEWEST = defs.onnx_opset_version()


class Kept(Exception):
    """Why a node is of this opset alone."""


def moved(contexts: Sequence[Context], names: Names, opset: int) -> list[Edit]:
    """Edits that bring every scope to `opset`; raises Kept with the node that stays."""
    edits: list[Edit] = []
    if functions := contexts[0].document.functions:
        raise Kept(f"it has local functions, such as '{next(iter(functions.values())).id}'")
    for context in contexts:
        scope = context.scope
        for node in scope.ordered():
            if node.domain in PLAIN_DOMAINS:
                edits += _Mover(context, node, names, opset).edits()
    return [*edits, MoveOpset(opset)]


class _Mover:
    def __init__(self, context: Context, node: Node, names: Names, opset: int) -> None:
        self._context, self._node, self._names = context, node, names
        self._address = address_of(context.scope, node)
        self._written: Mapping[str, Value] = context.attributes(node)
        self._opset = opset
        try:
            self._old = defs.get_schema(node.op_type, context.scope.opset, "")
            self._new = defs.get_schema(node.op_type, opset, "")
        except defs.SchemaError:
            raise self._kept("has no such operator") from None

    def edits(self) -> Iterator[Edit]:
        if self._old.since_version == self._new.since_version:
            return
        if self._node.op_type not in _SAME:
            raise self._kept("was not read in both texts")
        self._check()
        given = _AS_INPUT.get(self._node.op_type, {})
        for name, position in given.items():
            yield from self._moved_across(name, position)
        yield from self._settled()
        settled = {*given, *self._new.attributes, "num_outputs", "spatial"}
        for name in sorted(set(self._named()) - settled):
            if not self._says_nothing(name):
                raise self._kept(f"writes {name}")
            yield RemoveAttribute(self._address, name)
        new_attributes = self._new.attributes.keys() - self._old.attributes.keys()
        self._check_positions({given[name] for name in given.keys() & new_attributes})

    def _kept(self, what: str) -> Kept:
        return Kept(f"{self._node.op_type} '{self._address.label}' {what} in opset {self._opset}")

    def _named(self) -> list[str]:
        return [one.name for one in self._node.proto.attribute]

    def _says_nothing(self, name: str) -> bool:
        """Whether an attribute that the other text lacks holds its default, or is never asked."""
        value, declared = self._written.get(name), self._old.attributes[name].default_value
        default = helper.get_attribute_value(declared) if declared.type else None
        if value is not None and value == (
            default.decode() if isinstance(default, bytes) else default
        ):
            return True
        read = self._node.inputs[1] if len(self._node.inputs) > 1 else ""
        given = self._context.constant(read) if read else None
        if given is None or name not in _ABOUT_INPUT:
            return False
        return bool(given.all()) if name == "allowzero" else given.size > 0

    def _check(self) -> None:
        """What the two texts say otherwise of this node."""
        old, new = sorted((self._old.since_version, self._new.since_version))
        if reason := self._told_otherwise(old, new):
            raise self._kept(reason)
        for name, attribute in self._new.attributes.items():
            known = self._old.attributes.get(name)
            if known is not None and known.type != attribute.type and name in self._named():
                raise self._kept(f"writes {name} otherwise")
            same = known is None or known.default_value == attribute.default_value
            becomes = {*_AS_INPUT.get(self._node.op_type, ()), "num_outputs"}
            settled = name in {*self._named(), *becomes} or self._node.op_type == "Softmax"
            if not settled and (attribute.required or not same):
                raise self._kept(f"has another default of {name}")

    def _told_otherwise(self, old: int, new: int) -> str:
        """What differs between the texts of two opsets, the older first, or ''."""
        written, alone = self._written, len(list(filter(None, self._node.outputs))) == 1
        match self._node.op_type:
            case "AveragePool" | "MaxPool" if old < Since.WINDOWS_START_IN_DATA <= new:
                return "rounds up otherwise" if written.get("ceil_mode") else ""
            case "ConvTranspose" if old < Since.CROP_AS_PADS_SPLIT:
                same = written.get("auto_pad", "NOTSET") == "NOTSET"
                return "" if same and not written.get("output_shape") else "crops otherwise"
            case "PRelu" if old < Since.BROADCASTING <= new:
                return "has slopes of channels"
            case "Pad" if self._opset < Since.PAD_WRAP:
                return "has no mode wrap" if written.get("mode") == "wrap" else ""
            case "Resize":
                named = [[one.name for one in text.inputs] for text in (self._old, self._new)]
                return "" if named[0] == named[1] else "has other inputs"
            case "BatchNormalization" | "Dropout":
                trains = written.get("training_mode") or written.get("spatial", 1) != 1
                idle = alone and not trains and old >= Since.IDLE_DROPOUT
                return "" if idle else "may train, or gives more than one result"
            case _:
                return ""

    def _moved_across(self, name: str, position: int) -> Iterator[Edit]:
        """An attribute that becomes an input, or the other way."""
        node, scope = self._node, self._context.scope
        before, behind = name in self._old.attributes, name in self._new.attributes
        read = node.input(position)
        if before and not behind and name in self._written:
            value = self._written[name]
            yield RemoveAttribute(self._address, name)
            if node.op_type == "Pad" and name == "value" and value == 0:
                return
            wanted = self._names.new(f"{stem(node)}/{name}")
            numbers = value if isinstance(value, tuple) else (value,)
            dims = (len(numbers),) if isinstance(value, tuple) else ()
            kind = "int64" if isinstance(value, tuple) else self._dtype(0)
            if not kind:
                raise self._kept("reads a type that is not known")
            listed = tuple(one for one in numbers if isinstance(one, int | float))
            as_node, key = as_nodes(self._context), next_key(scope)
            yield NewConstant(self._address, wanted, kind, dims, listed, as_node, key)
            yield SetInput(self._address, position, wanted)
        if behind and not before and read:
            array = self._context.constant(read)
            if array is None:
                raise self._kept(f"has no input for computed {name}")
            yield SetAttribute(self._address, name, _written(array))
            yield SetInput(self._address, position, "")
            yield RemoveConstant(self._address, read)

    def _settled(self) -> Iterator[Edit]:
        """Attributes that say in one text what the other one takes for granted."""
        op, written = self._node.op_type, self._written
        if op == "BatchNormalization" and "spatial" in written:
            yield RemoveAttribute(self._address, "spatial")
        if op == "Softmax":
            yield from self._last_axis()
        if op == "Split":
            yield from self._counted()

    def _last_axis(self) -> Iterator[Edit]:
        """Softmax over the last axis is the same in texts that flatten what is behind its axis."""
        older = self._old.since_version < Since.SOFTMAX_OF_AXIS
        if older is (self._new.since_version < Since.SOFTMAX_OF_AXIS):
            return
        dims = self._context.type_of(self._node.inputs[0]).dims
        axis = self._written.get("axis", 1 if older else -1)
        if dims is None or not isinstance(axis, int) or axis % len(dims) != len(dims) - 1:
            raise self._kept("flattens other axes")
        yield SetAttribute(self._address, "axis", len(dims) - 1)

    def _counted(self) -> Iterator[Edit]:
        """Equal parts by their number, where the older text counts the outputs."""
        says = len(self._node.inputs) > 1 or "split" in self._written
        known = "num_outputs" in self._old.attributes, "num_outputs" in self._new.attributes
        if says or known[0] is known[1]:
            return
        count, axis = len(self._node.outputs), self._written.get("axis", 0)
        if known[1]:
            yield SetAttribute(self._address, "num_outputs", count)
        dims = self._context.type_of(self._node.inputs[0]).dims
        size = dims[axis] if dims and isinstance(axis, int) else None
        if not isinstance(size, int) or size % count:
            raise self._kept("may split unevenly")
        if known[0]:
            yield RemoveAttribute(self._address, "num_outputs")

    def _check_positions(self, moving: set[int]) -> None:
        """Inputs, outputs and types that the other text has not."""
        node, new = self._node, self._new
        used = [
            position for position, name in enumerate(node.inputs) if name and position not in moving
        ]
        if (used and used[-1] >= new.max_input) or len(node.outputs) > new.max_output:
            raise self._kept("has not as many inputs or outputs")
        for position in used:
            mine, other = _types(self._old, position), _types(new, position)
            kind = self._dtype(position)
            asked = {kind} if kind else _BASIC & mine
            if not asked & mine <= other:
                raise self._kept(f"takes no {kind or 'tensor of every type'}")

    def _dtype(self, position: int) -> str:
        return self._context.type_of(self._node.inputs[position]).dtype


def _types(schema: defs.OpSchema, position: int) -> frozenset[str]:
    """The element types of an input, as numpy names them; of other values, such as of bodies."""
    declared = schema.inputs[min(position, len(schema.inputs) - 1)].types
    told = {one.removeprefix("tensor(").rstrip(")") for one in declared}
    return frozenset(_NAMES.get(one, one) for one in told)


def _written(array: np.ndarray) -> AttributeValue:
    """A constant as an attribute: a list of integers, or a number."""
    if array.dtype.kind in "iu":
        return tuple(int(one) for one in array.reshape(-1))
    return float(array.reshape(-1)[0])
