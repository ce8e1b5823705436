"""Dimensions of the file as sizes, with what the user says of them; '32*h' is one too."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from onnx import TypeProto

from onnxpad.errors import ModelError, RequestError
from onnxpad.geometry.budgets import LARGEST_SIZE, LONGEST_NAME
from onnxpad.geometry.size import Size, Symbol, stated_size
from onnxpad.geometry.size_fact import BATCH, NOTHING_KNOWN, SizeFact, Told
from onnxpad.model.graph.types import UNKNOWN, Type, dtype_name


def linear_terms(text: str) -> tuple[int, str, int] | None:
    """(factor, name, offset) of '32*h', 'h*32', '2*h+1'; None for anything else."""
    if not re.search(r"[*+-]", text) or len(text) > LONGEST_NAME:
        return None
    try:
        found = _terms(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None if found is None or max(found[0], abs(found[2])) > LARGEST_SIZE else found


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


class Dimensions:
    """Turns dimensions of the file into sizes, with what the user says of them.

    `facts` maps a dimension's name, or 'images[2]' for an unnamed one, to a number or to a
    text such as '%32==0' or '%32=0'.
    """

    def __init__(self, facts: Mapping[str, Told] | None = None) -> None:
        self._facts = {name: SizeFact.read(name, told) for name, told in (facts or {}).items()}
        self.used: set[str] = set()
        self.roots: set[str] = set()
        self._batches: set[str] = set()
        self.names: set[str] = set()

    def type_of(
        self,
        proto: TypeProto,
        name: str,
        *,
        is_input: bool = False,
        local: bool = False,
        claim: bool = False,
    ) -> Type:
        """The type of a value; `name` names its unnamed dimensions when it is an input.

        Names of dimensions that are `local` mean nothing outside, and sizes may change there. In a
        `claim`, the name of an input's dimension is not believed: exporters take one name for the
        height of every input and output (PyTorch's dynamic_axes), and nothing checks it.
        """
        tensor = proto.tensor_type
        if not proto.HasField("tensor_type"):
            return UNKNOWN
        dtype = dtype_name(tensor.elem_type)
        if not tensor.HasField("shape"):
            return Type(dtype)
        sizes: list[Size | None] = []
        if is_input and len(tensor.shape.dim) > 1:
            self._batches.add(tensor.shape.dim[0].dim_param or f"{name}[0]")
        for axis, dim in enumerate(tensor.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value >= 0:
                sizes.append(dim.dim_value)
            elif claim and dim.dim_param in self.roots:
                sizes.append(None)
            elif dim.dim_param and not local:
                sizes.append(self._named(dim.dim_param, root=is_input))
            else:
                sizes.append(self._named(f"{name}[{axis}]", root=True) if is_input else None)
        return Type(dtype, tuple(sizes))

    def check_used(self) -> None:
        """Raise RequestError if a fact names a dimension that the model does not have."""
        names = ", ".join(sorted(self.names))
        hint = f"; named or open dimensions: {names}" if names else ": every size is fixed"
        for name in self._facts:
            if name not in self.names:
                raise RequestError(f"no dimension is called '{name}'{hint}")

    def _named(self, name: str, *, root: bool) -> Size:
        if not isinstance(name, str):
            raise ModelError(f"the dimension name {name!r} is no UTF-8 text")
        self.names.add(name)
        if root:
            self.roots.add(name)
        if name in self._facts:
            return stated_size(name, self._facts[name])
        if (linear := linear_terms(name)) is not None:
            return self._linear_size(name, *linear)
        known = BATCH if name in self._batches else NOTHING_KNOWN
        return Symbol(name, root=name if name in self.roots else None, stated=known)

    def _linear_size(self, name: str, factor: int, unknown: str, offset: int) -> Size:
        self.names.add(unknown)
        fact = self._facts.get(unknown)
        inner = stated_size(unknown, fact) if fact else Symbol(unknown)
        if isinstance(inner, int):
            return factor * inner + offset
        modulus = inner.modulus * factor
        return Symbol(
            name,
            modulus,
            (inner.residue * factor + offset) % modulus,
            max(1, factor * inner.minimum + offset),
        )
