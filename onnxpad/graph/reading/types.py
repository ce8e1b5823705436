"""What is known of a tensor's type: element type and sizes of its axes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from onnx import TensorProto, TypeProto

from onnxpad.errors import RequestError
from onnxpad.geometry.size import Size, Symbol

_DTYPES: dict[int, str] = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.STRING: "string",
    TensorProto.BOOL: "bool",
} | {
    getattr(TensorProto, name.upper()): name
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
}
_CODES: dict[str, int] = {name: code for code, name in _DTYPES.items()}


class Type(NamedTuple):
    """Element type ('' unknown) and sizes (None: not even the rank is known)."""

    dtype: str = ""
    dims: tuple[Size | None, ...] | None = None


UNKNOWN = Type()


def dtype_name(code: int) -> str:
    """'float32' and so on; '' for types without a name here."""
    return _DTYPES.get(code, "")


def dtype_code(name: str) -> int:
    """The TensorProto constant of an element type."""
    return _CODES[name]


class Dimensions:
    """Turns dimensions of the file into sizes, with what the user says of them.

    `facts` maps a dimension's name, or 'images[2]' for an unnamed one, to a number or to a
    text such as '%32==0' or '%32=0'.
    """

    def __init__(self, facts: Mapping[str, int | str] | None = None) -> None:
        self._facts = {name: _fact(name, fact) for name, fact in (facts or {}).items()}
        self.used: set[str] = set()
        self.roots: set[str] = set()
        self.names: set[str] = set()

    def type_of(self, proto: TypeProto, name: str, *, is_input: bool = False) -> Type:
        """The type of a value; `name` names its unnamed dimensions when it is an input."""
        tensor = proto.tensor_type
        if not proto.HasField("tensor_type"):
            return UNKNOWN
        dtype = _DTYPES.get(tensor.elem_type, "")
        if not tensor.HasField("shape"):
            return Type(dtype)
        sizes: list[Size | None] = []
        for axis, dim in enumerate(tensor.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value >= 0:
                sizes.append(dim.dim_value)
            elif dim.dim_param:
                sizes.append(self._named(dim.dim_param, root=is_input))
            else:
                sizes.append(self._named(f"{name}[{axis}]", root=True) if is_input else None)
        return Type(dtype, tuple(sizes))

    def check_used(self) -> None:
        """RequestError for a fact about a dimension that the model does not have."""
        for name in self._facts:
            if name not in self.names:
                known = ", ".join(sorted(self.names)) or "none: every size is fixed"
                raise RequestError(
                    f"no dimension is called '{name}'; named or open dimensions: {known}"
                )

    def _named(self, name: str, *, root: bool) -> Size:
        self.names.add(name)
        if root:
            self.roots.add(name)
        if name in self._facts:
            fact = self._facts[name]
            return fact if isinstance(fact, int) else fact(name)
        if (linear := _linear(name)) is not None:
            return self._linear_size(name, *linear)
        return Symbol(name, root=name if name in self.roots else None)

    def _linear_size(self, name: str, factor: int, unknown: str, offset: int) -> Size:
        fact = self._facts.get(unknown)
        self.names.add(unknown)
        if isinstance(fact, int):
            return factor * fact + offset
        inner = fact(unknown) if fact else Symbol(unknown)
        modulus = inner.modulus * factor
        return Symbol(
            name,
            modulus,
            (inner.residue * factor + offset) % modulus,
            max(1, factor * inner.minimum + offset),
        )


def _fact(name: str, fact: int | str) -> int | Callable[[str], Symbol]:
    if isinstance(fact, int):
        value = fact
    elif (match := re.fullmatch(r"\s*%\s*(\d+)\s*={1,2}\s*(\d+)\s*", fact)) is not None:
        modulus, residue = int(match[1]), int(match[2])
        if modulus < 1 or residue >= modulus:
            raise RequestError(f"'{name}{fact}' can never hold: a remainder is below its divisor")
        return lambda text: Symbol(text, modulus, residue, root=text)
    elif fact.strip().isdigit():
        value = int(fact)
    else:
        raise RequestError(f"'{fact}' says nothing about '{name}': write a number or '%32=0'")
    if value < 1:
        raise RequestError(f"dimension '{name}' cannot be {value}: a size is at least 1")
    return value


def _linear(text: str) -> tuple[int, str, int] | None:
    """(factor, name, offset) of '32*h', 'h*32', '2*h+1'; None for anything else."""
    if not re.search(r"[*+-]", text):
        return None
    try:
        return _terms(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def _terms(node: ast.expr) -> tuple[int, str, int] | None:
    match node:
        case ast.Name(id=name):
            return 1, name, 0
        case ast.BinOp(ast.Constant(value=int(factor)), ast.Mult(), ast.Name(id=name)):
            return (factor, name, 0) if factor > 0 else None
        case ast.BinOp(ast.Name(id=name), ast.Mult(), ast.Constant(value=int(factor))):
            return (factor, name, 0) if factor > 0 else None
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, ast.Constant(value=int(offset))):
            inner = _terms(left)
            if inner is None:
                return None
            return inner[0], inner[1], inner[2] + (offset if isinstance(sign, ast.Add) else -offset)
        case _:
            return None
