"""What an edited model says of the sizes of its dimensions beside its types, read again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from onnx import ModelProto

from onnxpad.errors import RequestError
from onnxpad.geometry.size_fact import SizeFact, Told
from onnxpad.model.shapes.dimensions import linear_terms
from onnxpad.model.shapes.input_shapes import input_sizes

HOLDS_WHERE = "onnxpad.holds_where"
"""The key of a model's metadata under which stands what no type of an input can say."""
_ONE = re.compile(r"(.+?)(=\d+|%\d+=\d+)")
_LONGEST, _LARGEST = 2_000, 2**31


def recorded_facts(model: ModelProto) -> dict[str, Told]:
    """The facts about dimensions of its inputs under which alone an edited model is right.

    The model was rewritten with them. What is said of other names is left out, as all is where a
    part cannot be read: less is known then.
    """
    text = next((one.value for one in model.metadata_props if one.key == HOLDS_WHERE), "")
    if not text or len(text) > _LONGEST:
        return {}
    found: dict[str, SizeFact] = {}
    for part in text.split(", "):
        match = _ONE.fullmatch(part)
        if match is None:
            return {}
        try:
            fact = SizeFact.read(match[1], match[2].removeprefix("="))
        except RequestError:
            return {}
        both = fact if match[1] not in found else found[match[1]].and_also(fact)
        if both is None or max(both.divisor, both.rest) > _LARGEST:
            return {}
        found[match[1]] = both
    there = set(recorded_dimensions(model))
    return {name: fact.told for name, fact in found.items() if name in there}


def joined_facts(recorded: Mapping[str, Told], told: Mapping[str, Told]) -> dict[str, Told]:
    """What is told of dimensions, with what the file says of them: both hold.

    Raises:
        RequestError: they contradict each other, or what is told can never hold.
    """
    found = dict(told)
    for name, text in recorded.items():
        fact = SizeFact.read(name, text)
        mine = SizeFact.read(name, told[name]) if name in told else fact
        both = fact.and_also(mine)
        if both is None:
            raise RequestError(
                f"'{mine.of(name)}' contradicts '{fact.of(name)}', which the "
                f"model says of itself in its metadata ({HOLDS_WHERE}): it is right there alone; "
                "rewrite the original for other sizes"
            )
        found[name] = told[name] if name in told and both == mine else both.told
    return found


def recorded_dimensions(model: ModelProto) -> Iterator[str]:
    """The names that facts about open sizes of inputs can have."""
    for sizes in input_sizes(model).values():
        for name in sizes or ():
            if isinstance(name, str):
                linear = linear_terms(name)
                yield from (name, linear[1]) if linear else (name,)
