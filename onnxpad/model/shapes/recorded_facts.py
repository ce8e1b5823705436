"""What an edited model says of the sizes of its dimensions beside its types, read again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import gcd, lcm

from onnx import ModelProto

from onnxpad.errors import RequestError
from onnxpad.model.shapes.dimensions import linear_terms

HOLDS_WHERE = "onnxpad.holds_where"
"""The key of a model's metadata under which stands what no type of an input can say."""
_ONE = re.compile(r"(.+?)(?:=(\d{1,18})|%(\d{1,18})=(\d{1,18}))")
_LONGEST, _LARGEST = 2_000, 2**31
Fact = int | str
_Rest = tuple[int, int]
"""A divisor and what it leaves; a divisor of 0 is a number."""


def recorded_facts(model: ModelProto) -> dict[str, Fact]:
    """The facts about dimensions of its inputs under which alone an edited model is right.

    The model was rewritten with them. What is said of other names is left out, as all is where a
    part cannot be read: less is known then.
    """
    text = next((one.value for one in model.metadata_props if one.key == HOLDS_WHERE), "")
    if not text or len(text) > _LONGEST:
        return {}
    found: dict[str, _Rest] = {}
    for name, rest in _read(text):
        joined = rest if name not in found else _both(found[name], rest)
        if joined is None or not _can_hold(rest) or max(joined) > _LARGEST:
            return {}
        found[name] = joined
    there = set(recorded_dimensions(model))
    return {name: _as_fact(rest) for name, rest in found.items() if name in there}


def joined_facts(recorded: Mapping[str, Fact], told: Mapping[str, Fact]) -> dict[str, Fact]:
    """What is told of dimensions, with what the file says of them: both hold.

    Raises RequestError where they contradict each other.
    """
    found = dict(told)
    for name, fact in recorded.items():
        if name not in told:
            found[name] = fact
            continue
        mine = _rest_of(told[name])
        if mine is None:
            continue  # what is wrong with it is said where it is read
        own = _rest_of(fact)
        both = mine if own is None else _both(own, mine)
        if both is None:
            raise RequestError(
                f"'{_written(name, told[name])}' contradicts '{_written(name, fact)}', which the "
                f"model says of itself in its metadata ({HOLDS_WHERE}): it is right there alone; "
                "rewrite the original for other sizes"
            )
        found[name] = told[name] if both == mine else _as_fact(both)
    return found


def _read(text: str) -> Iterator[tuple[str, _Rest]]:
    for part in text.split(", "):
        match = _ONE.fullmatch(part)
        if match is None:
            yield "", (0, 0)  # can never hold
        elif match[2]:
            yield match[1], (0, int(match[2]))
        else:
            yield match[1], (int(match[3]) or -1, int(match[4]))


def _can_hold(rest: _Rest) -> bool:
    divisor, number = rest
    return number > 0 if divisor == 0 else number < divisor


def _rest_of(fact: Fact) -> _Rest | None:
    if isinstance(fact, int):
        return 0, fact
    text = "".join(fact.split()).replace("==", "=")
    found = [rest for _, rest in _read(f"x{text}" if text.startswith("%") else f"x={text}")]
    return found[0] if len(found) == 1 and _can_hold(found[0]) else None


def _both(one: _Rest, other: _Rest) -> _Rest | None:
    """Where both hold (the Chinese remainder theorem); None for nowhere."""
    (m, a), (n, b) = sorted((one, other))
    if m == 0:
        return (m, a) if (a == b if n == 0 else a % n == b) else None
    shared = gcd(m, n)
    if (b - a) % shared:
        return None
    whole = lcm(m, n)
    steps = (b - a) // shared * pow(m // shared, -1, n // shared) if n > shared else 0
    return whole, (a + m * steps) % whole


def _as_fact(rest: _Rest) -> Fact:
    divisor, number = rest
    return f"%{divisor}={number}" if divisor else number


def _written(name: str, fact: Fact) -> str:
    return f"{name}{fact}" if str(fact).startswith("%") else f"{name}={fact}"


def recorded_dimensions(model: ModelProto) -> Iterator[str]:
    """The names that facts about open sizes of inputs can have."""
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value"):
                name = dim.dim_param or f"{value.name}[{axis}]"
                linear = linear_terms(name)
                yield from (name, linear[1]) if linear else (name,)
