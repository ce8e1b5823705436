"""The edits after which the nodes of a model are of another opset and compute the same.

Only what was read in both texts is moved: operators whose text differs in types alone, and those
that read as an input what was an attribute. Everything else keeps the model where it is.

Of 20 models that are moved so, the version_converter of onnx 1.23.2 refuses 5 (Pad, Split, Softmax
and Reshape to older texts) and writes one that no runtime loads (ReduceMean without axes); of 13
that stay it writes 2 that do not compute the same (Hardmax, PRelu). It wants all weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx import defs, helper

from onnxpad.model.editing.script import (
    Edit,
    MoveOpset,
    Names,
    NewConstant,
    RemoveAttribute,
    SetAttribute,
    SetInput,
    as_nodes,
    next_key,
    stem,
)
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import address_of
from onnxpad.padding.operators import PLAIN_DOMAINS, Since

_SAME = frozenset(
    """
    Abs Add And AveragePool BatchNormalization Cast Ceil Clip Concat Constant
    ConstantOfShape Conv ConvInteger ConvTranspose Cos DepthToSpace DequantizeLinear Div
    Elu Equal Erf Exp Expand Flatten Floor Gather Gemm GlobalAveragePool GlobalMaxPool
    Greater HardSigmoid HardSwish Identity If InstanceNormalization LRN LayerNormalization
    LeakyRelu Less Log Loop LpPool MatMul Max MaxPool Mean Min Mod Mul Neg Not Or PRelu Pad
    Pow QLinearConv QuantizeLinear Range Reciprocal ReduceL1 ReduceL2 ReduceMax ReduceMean
    ReduceMin ReduceProd ReduceSum Relu Reshape Resize Round Selu Shape Sigmoid Sign Sin Size
    Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Tanh Tile
    Transpose Unsqueeze Where
    """.split()  # noqa: SIM905
)
"""Operators of which the texts of all opsets say the same of what a node can say in both."""
_TURNS = {
    "BatchNormalization": (9, 14),
    "ConvTranspose": (Since.CROP_AS_PADS_SPLIT,),
    "PRelu": (Since.BROADCASTING,),
    "Resize": (11,),
    "Split": (2, 18),
}
"""But for these, whose text says something else from an opset on."""
_AS_INPUT: dict[str, dict[str, int]] = {
    "Squeeze": {"axes": 1},
    "Unsqueeze": {"axes": 1},
    "Split": {"split": 1},
    "Pad": {"pads": 1, "value": 2},
    "Slice": {"starts": 1, "ends": 2, "axes": 3},
    "Clip": {"min": 1, "max": 2},
}
_AS_INPUT |= {
    f"Reduce{kind}": {"axes": 1} for kind in ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum")
}
"""What is an attribute in older texts and an input in newer ones: the attribute, the position."""
_NAMES = {"float": "float32", "double": "float64"}


NEWEST = defs.onnx_opset_version()


class Kept(Exception):
    """Why a node is of this opset alone."""


def moved(contexts: Sequence[Context], names: Names, opset: int) -> list[Edit]:
    """Edits that move every scope to `opset`. Raises Kept with the node that cannot move."""
    edits: list[Edit] = []
    if functions := contexts[0].document.functions:
        raise Kept(f"it has local functions, such as '{next(iter(functions.values())).id}'")
    for context in contexts:
        for node in context.scope.ordered():
            if node.domain in PLAIN_DOMAINS:
                edits += _Mover(context, node, names, opset).edits()
    return [*edits, MoveOpset(opset)]


class _Mover:
    def __init__(self, context: Context, node: Node, names: Names, opset: int) -> None:
        self._context, self._node, self._names = context, node, names
        self._address = address_of(context.scope, node)
        self._written = context.attributes(node)
        self._opset = opset
        try:
            self._old = defs.get_schema(node.op_type, context.scope.opset, "")
            self._new = defs.get_schema(node.op_type, opset, "")
        except defs.SchemaError:
            raise self._kept("has no such operator") from None

    def edits(self) -> Iterator[Edit]:
        if self._old.since_version == self._new.since_version:
            return
        self._refuse_other_meaning()
        given = _AS_INPUT.get(self._node.op_type, {})
        for name, position in given.items():
            yield from self._moved_across(name, position)
        for one in self._node.proto.attribute:
            if one.name not in given and one.name not in self._new.attributes:
                if not self._is_default(one.name):
                    raise self._kept(f"writes {one.name}")
                yield RemoveAttribute(self._address, one.name)
        if self._is_softmax_turned():
            dims = self._context.type_of(self._node.inputs[0]).dims or ()
            yield SetAttribute(self._address, "axis", len(dims) - 1)
        becoming = self._new.attributes.keys() - self._old.attributes.keys()
        self._check_positions({given[name] for name in given.keys() & becoming})

    def _kept(self, what: str) -> Kept:
        return Kept(f"{self._node.op_type} '{self._address.label}' {what} in opset {self._opset}")

    def _is_softmax_turned(self) -> bool:
        """Whether one text of Softmax is over its axis, and one flattens what is behind it."""
        old, new = sorted((self._old.since_version, self._new.since_version))
        return self._node.op_type == "Softmax" and old < Since.SOFTMAX_OF_AXIS <= new

    def _is_default(self, name: str) -> bool:
        """Whether an attribute that the other text lacks holds its default."""
        value, declared = self._written.get(name), self._old.attributes[name].default_value
        default = helper.get_attribute_value(declared) if declared.type else None
        return value is not None and value == (
            default.decode() if isinstance(default, bytes) else default
        )

    def _refuse_other_meaning(self) -> None:
        """Raise Kept where the two texts say something else of this node."""
        op, written = self._node.op_type, self._written
        old, new = sorted((self._old.since_version, self._new.since_version))
        if op not in _SAME or any(old < turn <= new for turn in _TURNS.get(op, ())):
            raise self._kept("was not read in both texts")
        if written.get("ceil_mode") and old < Since.WINDOWS_START_IN_DATA <= new:
            raise self._kept("rounds up otherwise")
        if written.get("mode") == "wrap" and self._opset < Since.PAD_WRAP:
            raise self._kept("has no mode wrap")
        if self._is_softmax_turned():  # over the last axis it is the same in both
            rank = len(self._context.type_of(self._node.inputs[0]).dims or ())
            axis = written.get("axis", 1 if self._old.since_version == old else -1)
            if not rank or not isinstance(axis, int) or axis % rank != rank - 1:
                raise self._kept("flattens other axes")
        names = {one.name for one in self._node.proto.attribute} | _AS_INPUT.get(op, {}).keys()
        for name, attribute in self._new.attributes.items():
            known = self._old.attributes.get(name)
            if known is not None and known.type != attribute.type and name in names:
                raise self._kept(f"writes {name} otherwise")
            same = known is None or known.default_value == attribute.default_value
            if name not in names and op != "Softmax" and (attribute.required or not same):
                raise self._kept(f"has another default of {name}")

    def _moved_across(self, name: str, position: int) -> Iterator[Edit]:
        """An attribute that becomes an input, or the other way."""
        node, read = self._node, self._node.input(position)
        before, behind = name in self._old.attributes, name in self._new.attributes
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
            as_node, key = as_nodes(self._context), next_key(self._context.scope)
            yield NewConstant(self._address, wanted, kind, dims, listed, as_node, key)
            yield SetInput(self._address, position, wanted)
        if behind and not before and read:
            array = self._context.constant(read)
            if array is None:
                raise self._kept(f"has no input for computed {name}")
            flat = array.reshape(-1).tolist()
            is_list = array.dtype.kind in "iu"
            yield SetAttribute(self._address, name, tuple(flat) if is_list else float(flat[0]))
            yield SetInput(self._address, position, "")

    def _check_positions(self, moving: set[int]) -> None:
        """Raise Kept for inputs, outputs and types that the other text has not."""
        node, new = self._node, self._new
        used = [at for at, name in enumerate(node.inputs) if name and at not in moving]
        if (used and used[-1] >= new.max_input) or len(node.outputs) > new.max_output:
            raise self._kept("has not as many inputs or outputs")
        for position in used:
            mine, other = _types(self._old, position), _types(new, position)
            kind = self._dtype(position)
            if not ({kind} if kind else mine) & mine <= other:
                raise self._kept(f"takes no {kind or 'tensor of every type'}")

    def _dtype(self, position: int) -> str:
        return self._context.type_of(self._node.inputs[position]).dtype


def _types(schema: defs.OpSchema, position: int) -> frozenset[str]:
    """The element types of an input, as numpy names them; of other values, such as of bodies."""
    declared = schema.inputs[min(position, len(schema.inputs) - 1)].types
    told = {one.removeprefix("tensor(").rstrip(")") for one in declared}
    return frozenset(_NAMES.get(one, one) for one in told)
