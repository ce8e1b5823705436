"""Drawn specimens: the ways of padding, random ones, and neighbours of those that fail."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from onnxpad.padding.operators import Since
from onnxpad.reproducing.specimens import POOLS, QUANTISED, Specimen

Choices = Mapping[str, tuple[float, Sequence[Any]]]
"""By field of a specimen how likely it is written otherwise, and what it may then be."""


@cache
def _drawing() -> Mapping[str, Mapping[str, Any]]:
    """The tables of `drawing.toml`; lists of numbers in them are tuples, as in a Specimen."""
    record = tomllib.loads((Path(__file__).parent / "drawing.toml").read_text("utf-8"))
    return {
        table: {name: _frozen(value) for name, value in fields.items()}
        for table, fields in record.items()
    }


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


_AUTO_PAD, _OTHER_PADDING = 0.35, 0.4
"""How likely a node has auto_pad, and a neighbour is padded otherwise."""
_WITHIN_KERNEL = 0.8
"""How likely the pads of a pool are below its kernel: beyond that most frameworks refuse it."""
_HIGHER_RANKS = 3
_LARGEST_VOLUME = 6


def drawn(random: Random) -> Iterator[Specimen]:
    """Random specimens without end."""
    operators = _drawing()["operators"]
    while True:
        (name,) = random.choices(list(operators), list(operators.values()))
        fields = _choices(name)
        words: dict[str, Any] = {
            field: random.choice(values)
            for field, (chance, values) in fields.items()
            if random.random() < chance
        }
        words |= _padding(replace(Specimen(name), **words), random)
        yield _fitting(replace(Specimen(name), **words))


def neighbours(
    specimens: Sequence[Specimen], groups: Sequence[Sequence[int]], random: Random
) -> Iterator[Specimen]:
    """Neighbours of specimens without end, as many of one group of places as of another."""
    while groups:
        for group in groups:
            yield _neighbour(specimens[random.choice(group)], random)


def _neighbour(one: Specimen, random: Random) -> Specimen:
    """The specimen with one or two of its fields drawn again."""
    fields = _choices(one.operator)
    names = random.sample(sorted(fields), random.choice((1, 1, 2)))
    words = {
        name: random.choice((getattr(Specimen(one.operator), name), *fields[name][1]))
        for name in names
    }
    if random.random() < _OTHER_PADDING:
        words = _padding(one, random) or words
    return _fitting(replace(one, **words))


def _choices(operator: str) -> Choices:
    """What can be written otherwise in a model of this operator."""
    tables = _drawing()
    if operator == "Pad":
        return {**tables["any"], **tables["pad_nodes"]}
    own = tables["pools" if operator in POOLS else "convolutions"]
    written = {name: own[name] for name in own if name in tables["written"][operator]}
    return {**tables["any"], **tables["windows"]} | written


def _padding(one: Specimen, random: Random) -> dict[str, Any]:
    """How a convolution or a pool pads: not at all, by pads, or by auto_pad."""
    if one.operator == "Pad":
        return {}
    if random.random() < _AUTO_PAD:
        auto_pad = random.choice(("SAME_UPPER", "SAME_UPPER", "SAME_LOWER", "VALID"))
        return {"auto_pad": auto_pad, "pads": None}
    fits = one.operator in POOLS and random.random() < _WITHIN_KERNEL
    pads = [sides for sides in _drawing()["pads"]["windows"] if not fits or max(sides) < one.kernel]
    return {"auto_pad": "", "pads": random.choice((None, *pads))}


def _fitting(one: Specimen) -> Specimen:
    """The same without words that contradict each other."""
    words: dict[str, Any] = {"opset": max(one.opset, _needed_opset(one))}
    if one.rank >= _HIGHER_RANKS:
        words |= {"size": min(one.size, _LARGEST_VOLUME), "kernel": min(one.kernel, 4)}
    if one.output_padding >= max(one.stride, one.dilation, 1) or one.output_shape:
        words["output_padding"] = 0
    if one.output_shape:
        words |= {"pads": None, "auto_pad": one.auto_pad if one.auto_pad != "VALID" else ""}
    if one.rank == 1 and one.flat:
        words["flat"] = False
    if one.weight == "padded" and one.kernel < 2:
        words["weight"] = ""
    if one.computed:
        words["axes"] = False
    if one.operator == "Pad" and one.dtype:
        words["front"] = ""  # Relu takes floats alone
    return replace(one, **words)


def _needed_opset(one: Specimen) -> int:
    needed = one.written_opset
    if one.mode == "wrap":
        needed = max(needed, Since.PAD_WRAP)
    if one.computed or one.front.startswith(("pad", "relu-pad")) or one.dtype:
        needed = max(needed, 13)
    if one.operator in QUANTISED or one.front.startswith("dequantised"):
        needed = max(needed, 10)
    return needed
