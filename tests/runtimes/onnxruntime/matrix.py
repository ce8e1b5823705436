"""Models around onnxruntime's Pad fusion, one for each drawn row.

A row says everything about `[front] -> Pad -> [between] -> operator`: which operator, how the Pad
is written, what else reads it. Rows that cannot be written in their opset are left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = NDArray[Any]

_SIZE = 7
TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "uint8": TensorProto.UINT8,
    "int8": TensorProto.INT8,
}


class Row(NamedTuple):
    """One model; `pads` are begin and end of the one spatial axis.

    `value` "" leaves constant_value out; `own` None leaves the operator's pads out. `known` says
    how the pads get to the Pad; `places` which axes it names or pads besides. `front` stands in
    front of the Pad, `between` behind it; `readers` is who else reads it.
    """

    op: str = "MaxPool"
    pads: tuple[int, int] = (1, 1)
    value: str = "0"
    mode: str = "constant"
    dtype: str = "float32"
    readers: str = "one"
    places: str = "all"
    known: str = "constant"
    front: str = ""
    between: str = ""
    auto_pad: str = ""
    own: tuple[int, int] | None = None
    kernel: int = 3
    stride: int = 1
    ceil: bool = False
    counts: bool = False
    opset: int = 17


AXES: Mapping[str, tuple[Any, ...]] = {
    "op": ("Conv", "MaxPool", "AveragePool", "LpPool"),
    "pads": ((1, 1), (0, 1), (2, 0), (3, 0), (0, 0), (1, -1)),
    "value": ("0", "", "-0", "-inf", "3"),
    "mode": ("constant", "reflect", "edge"),
    "dtype": ("float32", "float16", "uint8", "int8"),
    "readers": (
        "one",
        "two",
        "output",
        "body",
        "indices",
    ),
    "places": ("all", "listed", "outer"),
    "known": ("constant", "node", "folded", "sizes", "open sizes", "input"),
    "front": ("", "Relu", "Pad 0", "Pad 3"),
    "between": (
        "",
        "Relu",
        "Identity",
        "Dropout",
        "Mul 1",
        "Add 0",
        "Cast",
        "Transposes",
        "Pad 0",
        "Pad of nothing",
        "Abs",
    ),
    "auto_pad": ("", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"),
    "own": (None, (0, 0), (1, 1), (0, 1)),
    "kernel": (3, 2, 1),
    "stride": (1, 2, 3),
    "ceil": (False, True),
    "counts": (False, True),
    "opset": (*range(7, 26),),
}


def possible(row: Row) -> bool:
    """Whether the row can be written, and is no other row in disguise."""
    has_inputs = row.opset >= 11
    pool = row.op != "Conv"
    return not (
        (row.known != "constant" and not has_inputs)
        or (row.places == "listed" and row.opset < 18)
        or (row.dtype != "float32" and (not has_inputs or row.op == "LpPool"))
        or (row.dtype in ("uint8", "int8") and (row.op != "MaxPool" or row.opset < 12))
        or (row.dtype in ("uint8", "int8") and row.value in ("-0", "-inf"))
        or (row.dtype in ("uint8", "int8") and row.between in ("Mul 1", "Add 0", "Dropout"))
        or (row.dtype in ("uint8", "int8") and "Relu" in (row.front, row.between))
        or (row.ceil and not (pool and row.opset >= (18 if row.op == "LpPool" else 10)))
        or (row.counts and row.op != "AveragePool")
        or (row.auto_pad not in ("", "NOTSET") and row.own is not None)
        or (row.own is not None and max(row.own) >= row.kernel and pool)
        or (row.mode != "constant" and (row.value != "" or row.pads == (0, 0)))
        or (row.readers == "indices" and (row.op != "MaxPool" or row.opset < 8))
        or (row.readers == "body" and not has_inputs)
        or (row.places == "outer" and row.mode == "reflect")
        or (row.between == "Dropout" and row.opset < 12)
        or (row.ceil and row.auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"))
        or (row.op == "LpPool" and row.opset in (7, 8, 9, 10) and row.ceil)
        or (row.auto_pad[:4] == "SAME" and row.kernel < row.stride)
        or (row.between == "Pad 0" and _writes_unforeseen(row))
    )


def _writes_unforeseen(row: Row) -> bool:
    """Whether what the Pad writes before a second one decides, and hangs on what comes in."""
    unknown = row.known in ("input", "open sizes") or row.mode != "constant"
    return unknown or (row.value == "-inf" and row.front != "")


def drawn(seed: int, count: int) -> Iterator[Row]:
    """Rows at random that mix all axes."""
    chance = random.Random(seed)
    while count:
        row = _lean(chance)
        if possible(row):
            count -= 1
            yield row


def _lean(chance: random.Random) -> Row:
    """A row that leaves most axes at their defaults, so that a Pad is fused often."""
    drawn = {name: chance.choice(values) for name, values in AXES.items()}
    kept = {name: value for name, value in drawn.items() if chance.random() < 0.35}
    return Row(**kept)


def data(row: Row) -> Array:
    """Signed and never 0; for max pools all negative where the type allows it."""
    numbers = np.arange(1, _SIZE + 1).reshape(1, 1, _SIZE)
    if row.dtype != "uint8":
        numbers = -numbers if row.op == "MaxPool" else numbers * np.where(numbers % 2, 1, -1)
    return numbers.astype(row.dtype)


def built(row: Row) -> ModelProto:
    """The model of a row: `x` is the input, `y` the output of the operator called `op`."""
    return _Builder(row).model()


class _Builder:
    def __init__(self, row: Row) -> None:
        self.row = row
        self.type = TYPES[row.dtype]
        self.nodes: list[NodeProto] = []
        self.held: dict[str, Array] = {}
        size = "n" if row.known == "open sizes" else _SIZE
        self.inputs = [helper.make_tensor_value_info("x", self.type, [1, 1, size])]
        self.outputs = ["y"]

    def model(self) -> ModelProto:
        row = self.row
        name = self._operators("x", row.front, "f")
        self._pad(name, "p", row)
        self._operators("p", row.between, "b", last="d")
        self._reader("d" if row.between else "p")
        if row.readers == "two":
            self._add("Abs", ["p"], "z")
        elif row.readers == "output":
            self.outputs.append("p")
        elif row.readers == "body":
            self._body()
        if row.readers in ("two", "body"):
            self.outputs.append("z")
        results = [helper.make_tensor_value_info(name, self.type, None) for name in self.outputs]
        constants = [numpy_helper.from_array(array, name) for name, array in self.held.items()]
        graph = helper.make_graph(self.nodes, "row", self.inputs, results, constants)
        opsets = [helper.make_opsetid("", row.opset)]
        ir = 8 if row.opset < 19 else 10 if row.opset < 24 else 11
        return helper.make_model(graph, opset_imports=opsets, ir_version=ir)

    def _add(self, op: str, inputs: list[str], output: str, **attributes: Any) -> None:
        self.nodes.append(helper.make_node(op, inputs, [output], output + "_node", **attributes))

    def _hold(self, name: str, value: Any, dtype: str = "int64") -> str:
        self.held[name] = np.asarray(value, dtype)
        return name

    def _pad(self, data: str, output: str, row: Row) -> None:
        begin, end = row.pads
        flat = [0, 0, begin, 0, 0, end]
        if row.places == "outer":
            flat[0] = 1
        inputs = [data]
        attributes: dict[str, Any] = {"mode": row.mode}
        if row.opset < 11:
            attributes |= {"pads": flat} | ({"value": float(row.value)} if row.value else {})
        elif row.places == "listed":
            axes = self._hold(output + "_axes", [2])
            inputs += [self._pads([begin, end], output), self._value(output), axes]
        else:
            inputs += [self._pads(flat, output)]
            inputs += [self._value(output)] if row.value else []
        self._add("Pad", inputs, output, **attributes)

    def _value(self, output: str) -> str:
        value = self.row.value
        return self._hold(output + "_value", float(value), self.row.dtype) if value else ""

    def _pads(self, flat: list[int], output: str) -> str:
        name, half = output + "_pads", len(flat) // 2
        match self.row.known:
            case "constant":
                return self._hold(name, flat)
            case "node":
                tensor = numpy_helper.from_array(np.asarray(flat, np.int64))
                self._add("Constant", [], name, value=tensor)
            case "input":
                wanted = helper.make_tensor_value_info(name, TensorProto.INT64, [len(flat)])
                self.inputs.append(wanted)
            case "folded":
                halves = [self._hold(f"{name}{n}", flat[n * half :][:half]) for n in (0, 1)]
                self._add("Concat", halves, name, axis=0)
            case _:
                self._add("Shape", ["x"], name + "_shape")
                self._add("Gather", [name + "_shape", self._hold(name + "_two", [2])], name + "_n")
                self._add("Mod", [name + "_n", self._hold(name + "_seven", [_SIZE])], name + "_0")
                self._add("Add", [self._hold(name + "_flat", flat), name + "_0"], name)
        return name

    def _operators(self, name: str, kind: str, prefix: str, last: str = "") -> str:
        """The operators that `kind` names, behind a tensor; the name of what they make."""
        last = last or prefix
        match kind:
            case "":
                return name
            case "Mul 1" | "Add 0":
                op, value = kind.split()
                self._add(op, [name, self._hold(prefix + "_c", float(value), self.row.dtype)], last)
            case "Cast":
                self._add("Cast", [name], last, to=self.type)
            case "Transposes":
                self._add("Transpose", [name], prefix + "_t", perm=[0, 2, 1])
                self._add("Transpose", [prefix + "_t"], last, perm=[0, 2, 1])
            case "Pad 0" | "Pad 3" | "Pad of nothing":
                pads = (0, 0) if kind == "Pad of nothing" else (1, 0)
                value = kind[-1] if kind[-1] in "03" else "3"
                row, plain = self.row, self.row._replace(mode="constant", places="all")
                self.row = plain._replace(pads=pads, value=value, known="constant")
                self._pad(name, last, self.row)
                self.row = row
            case _:
                self._add(kind, [name], last)
        return last

    def _reader(self, name: str) -> None:
        row = self.row
        attributes: dict[str, Any] = {"kernel_shape": [row.kernel], "strides": [row.stride]}
        if row.auto_pad:
            attributes["auto_pad"] = row.auto_pad
        if row.own is not None:
            attributes["pads"] = list(row.own)
        if row.ceil:
            attributes["ceil_mode"] = 1
        if row.counts:
            attributes["count_include_pad"] = 1
        inputs, outputs = [name], ["y"]
        if row.op == "Conv":
            weight = 10.0 ** np.arange(row.kernel).reshape(1, 1, row.kernel)
            inputs.append(self._hold("w", weight, row.dtype))
        if row.readers == "indices":
            outputs.append("i")
        self.nodes.append(helper.make_node(row.op, inputs, outputs, "op", **attributes))

    def _body(self) -> None:
        """Both branches of an If read the Pad as well."""
        value = helper.make_tensor_value_info
        self.inputs.append(value("c", TensorProto.BOOL, []))
        branches = {
            f"{branch}_branch": helper.make_graph(
                [helper.make_node("Abs", ["p"], [branch])],
                branch,
                [],
                [value(branch, self.type, None)],
            )
            for branch in ("then", "else")
        }
        self._add("If", ["c"], "z", **branches)


def feeds(row: Row) -> dict[str, Array]:
    """What the inputs of the row's model are given."""
    begin, end = row.pads
    flat = [begin, end] if row.places == "listed" else [0, 0, begin, 0, 0, end]
    if row.places == "outer":
        flat[0] = 1
    return {"x": data(row), "p_pads": np.asarray(flat, np.int64), "c": np.asarray(True)}
