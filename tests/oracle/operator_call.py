"""One operator call of the test interpreter, held against the operator's schema."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import defs

Array = NDArray[Any]
STANDARD = ("", "ai.onnx")
_TYPE_NAMES = {"float32": "float", "float64": "double", "str": "string", "object": "string"}


@dataclass(frozen=True)
class Call:
    """What a kernel sees: values, attributes with the schema's defaults, the opset in force."""

    op: str
    domain: str
    opset: int
    name: str
    inputs: Sequence[Array | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def optional(self, index: int) -> Array | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def need(self, index: int) -> Array:
        value = self.optional(index)
        if value is None:
            raise ValueError(f"{self} lacks input {index}")
        return value

    def ints(self, index: int, attribute: str) -> list[int] | None:
        """A list that is an input in later opsets and an attribute in earlier ones."""
        value = self.optional(index)
        listed = self.get(attribute) if value is None else value.ravel()
        return None if listed is None else [int(v) for v in listed]

    def __str__(self) -> str:
        return f"{self.domain or 'ai.onnx'}.{self.op}-{self.opset} {self.name!r}"


@dataclass(frozen=True)
class _Contract:
    attributes: frozenset[str]
    defaults: dict[str, Any]
    slots: tuple[tuple[str, frozenset[str]], ...]
    open_ended: bool
    alike: bool


@cache
def _contract(op: str, opset: int) -> _Contract:
    schema = defs.get_schema(op, opset, "")
    defaults = {
        name: plain(onnx.helper.get_attribute_value(entry.default_value))
        for name, entry in schema.attributes.items()
        if entry.default_value.type
    }
    slots = tuple((slot.type_str, frozenset(slot.types)) for slot in schema.inputs)
    last = schema.inputs[-1] if schema.inputs else None
    variadic = last is not None and last.option == defs.OpSchema.FormalParameterOption.Variadic
    alike = last is None or not variadic or last.is_homogeneous
    return _Contract(frozenset(schema.attributes), defaults, slots, variadic, alike)


def plain(value: Any) -> Any:
    """An attribute's value with its bytes decoded."""
    return value.decode() if isinstance(value, bytes) else value


def type_name(dtype: np.dtype[Any]) -> str:
    return f"tensor({_TYPE_NAMES.get(dtype.name, dtype.name)})"


def check_call(call: Call) -> Call:
    """The call with defaults filled in.

    Raises ValueError for an attribute or input that the operator does not have at this opset, and
    TypeError for a type that it does not take there or that differs where types must be equal.
    Operators outside ai.onnx have no schema here and pass.
    """
    if call.domain not in STANDARD or not defs.has(call.op, call.opset):
        return call
    contract = _contract(call.op, call.opset)
    unknown = set(call.attributes) - contract.attributes
    if unknown or (len(call.inputs) > len(contract.slots) and not contract.open_ended):
        raise ValueError(f"{call} has {len(call.inputs)} inputs, unknown attributes {unknown}")
    bound: dict[str, np.dtype[Any]] = {}
    for index, value in enumerate(call.inputs):
        letter, allowed = contract.slots[min(index, len(contract.slots) - 1)]
        if value is None:
            continue
        if type_name(value.dtype) not in allowed:
            raise TypeError(f"{call} does not take {value.dtype} as input {index}")
        shared = contract.alike or index < len(contract.slots) - 1
        if shared and bound.setdefault(letter, value.dtype) != value.dtype:
            raise TypeError(f"{call} mixes {bound[letter]} and {value.dtype} (input {index})")
    attributes = {**contract.defaults, **call.attributes}
    return Call(call.op, call.domain, call.opset, call.name, call.inputs, attributes)
