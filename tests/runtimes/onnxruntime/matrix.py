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
from onnx import ModelProto

from tests.models.text import text_model

Array = NDArray[Any]

_SIZE = 7
TYPES = {"float32": "float", "uint8": "uint8", "int8": "int8"}


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

    @property
    def flat(self) -> list[int]:
        """The pads as the Pad lists them."""
        begin, end = self.pads
        return [begin, end] if self.places == "listed" else [self.outer, 0, begin, 0, 0, end]

    @property
    def outer(self) -> int:
        """Cells in front of the batch."""
        return int(self.places == "outer")


AXES: Mapping[str, tuple[Any, ...]] = {
    "op": ("Conv", "MaxPool", "AveragePool", "LpPool"),
    "pads": ((1, 1), (0, 1), (2, 0), (3, 0), (0, 0), (1, -1)),
    "value": ("0", "", "-0", "-inf", "3"),
    "mode": ("constant", "reflect", "edge"),
    "dtype": (*TYPES,),
    "readers": ("one", "two", "output", "body", "indices"),
    "places": ("all", "listed", "outer"),
    "known": ("constant", "node", "folded", "sizes", "open sizes", "input"),
    "front": ("", "Relu", "Pad 0", "Pad 3"),
    "between": (
        *("", "Relu", "Identity", "Dropout", "Mul 1", "Add 0", "Cast", "Transposes", "Pad 0"),
        *("Pad of nothing", "Abs"),
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
    has_inputs, is_pool, is_whole = row.opset >= 11, row.op != "Conv", row.dtype != "float32"
    # What the Pad writes before a second one decides, and hangs on what comes in.
    is_unforeseen = row.known in ("input", "open sizes") or row.mode != "constant"
    return not (
        (row.known != "constant" and not has_inputs)
        or (row.places == "listed" and (row.opset < 18 or not row.value))
        or (is_whole and (row.op != "MaxPool" or row.opset < 12 or row.value in ("-0", "-inf")))
        or (is_whole and {"Relu", "Mul 1", "Add 0", "Dropout"} & {row.front, row.between})
        or (row.ceil and not (is_pool and row.opset >= (18 if row.op == "LpPool" else 10)))
        or (row.ceil and row.auto_pad not in ("", "NOTSET"))
        or (row.counts and row.op != "AveragePool")
        or (row.own is not None and row.auto_pad not in ("", "NOTSET"))
        or (row.own is not None and max(row.own) >= row.kernel and is_pool)
        or (row.mode != "constant" and (row.value != "" or row.pads == (0, 0)))
        or (row.places == "outer" and row.mode == "reflect")
        or (row.readers == "indices" and (row.op != "MaxPool" or row.opset < 8))
        or (row.readers == "body" and not has_inputs)
        or (row.between == "Dropout" and row.opset < 12)
        or (row.auto_pad[:4] == "SAME" and row.kernel < row.stride)
        or (row.between == "Pad 0" and (is_unforeseen or (row.value == "-inf" and row.front)))
    )


def drawn(seed: int, count: int) -> Iterator[Row]:
    """Rows at random that mix all axes, most at their defaults, so that a Pad is fused often."""
    chance = random.Random(seed)
    while count:
        fields = {name: chance.choice(values) for name, values in AXES.items()}
        row = Row(**{name: one for name, one in fields.items() if chance.random() < 0.35})
        if possible(row):
            count -= 1
            yield row


def data(row: Row) -> Array:
    """Signed and never 0; for max pools all negative where the type allows it."""
    numbers = np.arange(1, _SIZE + 1).reshape(1, 1, _SIZE)
    if row.dtype != "uint8":
        numbers = -numbers if row.op == "MaxPool" else numbers * np.where(numbers % 2, 1, -1)
    return numbers.astype(row.dtype)


def feeds(row: Row) -> dict[str, Array]:
    """What the inputs of the row's model are given."""
    return {"x": data(row), "p_pads": np.asarray(row.flat, np.int64), "c": np.asarray(True)}


_BRANCH = "{0}_branch = {0} () => (float[] {0}_y) {{ {0}_y = Abs (p) }}"
_BESIDE = {
    "one": ("", "y"),
    "indices": ("", "y"),
    "output": ("", "yp"),
    "two": ("z = Abs (p)", "yz"),
    "body": (f"z = If (c) <{_BRANCH.format('then')}, {_BRANCH.format('else')}>", "yz"),
}
"""What else reads the Pad, and the results."""


def built(row: Row) -> ModelProto:
    """The model of a row: `x` is the input, `y` the output of the operator called `op`."""
    text = _Text(row)
    name = text.operators("x", row.front, "f")
    text.pad(name, "p", row)
    name = text.operators("p", row.between, "d")
    written: dict[str, Any] = {
        "auto_pad": f'"{row.auto_pad}"' * bool(row.auto_pad),
        "pads": row.own and [*row.own],
    }
    written |= {"ceil_mode": row.ceil and 1, "count_include_pad": row.counts and 1}
    words = [f"kernel_shape = [{row.kernel}], strides = [{row.stride}]"]
    words += [f"{name} = {value}" for name, value in written.items() if value]
    if row.op == "Conv":
        name += f", {text.hold('w', *(10**place for place in range(row.kernel)))}"
    results = "y, i" if row.readers == "indices" else "y"
    beside, outputs = _BESIDE[row.readers]
    branches = beside.replace("float[]", f"{text.kind}[]")
    size = "n" if row.known == "open sizes" else _SIZE
    inputs = [f"{text.kind}[1,1,{size}] x", *["bool c"] * (row.readers == "body")]
    return text_model(
        " ".join(
            [*text.nodes, f"[op] {results} = {row.op} <{', '.join(words)}> ({name})", branches]
        ),
        ", ".join([*inputs, *[f"int64[{len(row.flat)}] p_pads"] * (row.known == "input")]),
        outputs=", ".join(f"{text.kind}[] {name}" for name in outputs),
        constants=", ".join(text.held),
        opset=row.opset,
        ir=8 if row.opset < 19 else 10 if row.opset < 24 else 11,
    )


class _Text:
    """Nodes and constants of a row."""

    def __init__(self, row: Row) -> None:
        self.kind = TYPES[row.dtype]
        self.nodes, self.held = list[str](), list[str]()
        self.opset = row.opset

    def hold(self, name: str, *values: float, kind: str = "") -> str:
        """The name of a constant, which has the element type of the row or `kind`."""
        numbers = ", ".join(
            f"{float(one)}" if kind in ("", "float") else f"{one}" for one in values
        )
        if self.kind != "float" and not kind:
            numbers = ", ".join(str(int(one)) for one in values)
        shape = f"[1,1,{len(values)}]" if name == "w" else f"[{len(values)}]" * (kind == "int64")
        self.held.append(f"{kind or self.kind}{shape} {name} = {{{numbers}}}")
        return name

    def pad(self, read: str, name: str, row: Row) -> None:
        """A Pad of `read`."""
        if self.opset < 11:
            value = f", value = {float(row.value)}" if row.value else ""
            self.nodes.append(
                f'{name} = Pad <mode = "{row.mode}", pads = {row.flat}{value}> ({read})'
            )
            return
        inputs = [read, self._pads(row, f"{name}_pads")]
        inputs += [self.hold(f"{name}_value", float(row.value))] if row.value else []
        inputs += [self.hold(f"{name}_axes", 2, kind="int64")] if row.places == "listed" else []
        self.nodes.append(f'{name} = Pad <mode = "{row.mode}"> ({", ".join(inputs)})')

    def _pads(self, row: Row, name: str) -> str:
        flat, half = row.flat, len(row.flat) // 2
        if row.known == "constant":
            self.hold(name, *flat, kind="int64")
        elif row.known == "node":
            numbers = f"int64[{len(flat)}] {{{', '.join(map(str, flat))}}}"
            self.nodes.append(f"{name} = Constant <value: tensor = {numbers}> ()")
        elif row.known == "folded":
            halves = [
                self.hold(f"{name}{n}", *flat[n * half :][:half], kind="int64") for n in (0, 1)
            ]
            self.nodes.append(f"{name} = Concat <axis = 0> ({', '.join(halves)})")
        elif row.known != "input":
            self.hold("two", 2, kind="int64")
            self.hold("seven", _SIZE, kind="int64")
            self.hold("flat", *flat, kind="int64")
            self.nodes.append("s = Shape (x) n = Gather (s, two) m = Mod (n, seven)")
            self.nodes.append(f"{name} = Add (flat, m)")
        return name

    def operators(self, read: str, kind: str, name: str) -> str:
        """The operators that `kind` names, behind a tensor; the name of what they make."""
        if kind in ("Mul 1", "Add 0"):
            op, value = kind.split()
            self.nodes.append(f"{name} = {op} ({read}, {self.hold(f'{name}_c', float(value))})")
        elif kind == "Cast":
            code = {"float": 1, "uint8": 2, "int8": 3}[self.kind]
            self.nodes.append(f"{name} = Cast <to = {code}> ({read})")
        elif kind == "Transposes":
            turn = "Transpose <perm = [0, 2, 1]>"
            self.nodes.append(f"turned = {turn} ({read}) {name} = {turn} (turned)")
        elif kind.startswith("Pad"):
            pads, value = ((0, 0), "3") if kind == "Pad of nothing" else ((1, 0), kind[-1])
            self.pad(read, name, Row(pads=pads, value=value))
        elif kind:
            self.nodes.append(f"{name} = {kind} ({read})")
        return name if kind else read
