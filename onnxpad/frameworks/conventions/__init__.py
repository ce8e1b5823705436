"""Where frameworks put padding: one file of data each, read by one engine; the folder is walked.

`words` are the attributes of its layers: what each means (`role`), its default ("required", or
"the kernel" for that of the window), other names, and the values that it takes: `choices`, `modes`
with the rule that each stands for (`frameworks.own_rules`) and what else it decides, or `layouts`
of numbers. `layers` list the words of each operator.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from onnxpad.errors import RequestError, nearest
from onnxpad.frameworks import limits, values
from onnxpad.frameworks.choices import (
    Divisor,
    Fill,
    HowKnown,
    Layout,
    Outside,
    Override,
    Role,
    Rounding,
    Special,
)
from onnxpad.frameworks.layer import Layer, Mode, Word
from onnxpad.frameworks.own_rules import CUTS, PADS
from onnxpad.plugins import Plugins

T = TypeVar("T")
Record = Mapping[str, Any]

OPS = ("conv", "depthwise_conv", "grouped_conv", "max_pool", "avg_pool", "conv_transpose")
_SHORT = {op.replace("_", ""): op for op in OPS} | {
    "depthwise": "depthwise_conv",
    "grouped": "grouped_conv",
    "groupconv": "grouped_conv",
    "deconv": "conv_transpose",
    "transposeconv": "conv_transpose",
    "transposedconv": "conv_transpose",
}
_LONG = {"_": "", "convolution": "conv", "pooling": "pool", "average": "avg"}


class Convention(NamedTuple):
    """A framework: its layers in its own words.

    `pads_apart` is what its own layer for padding alone can write in front of any other layer,
    such as Keras' ZeroPadding2D. `listed` is its place in lists, the frequent ones first.
    """

    source: str
    layers: tuple[Layer, ...] = ()
    aliases: tuple[str, ...] = ()
    pads_apart: frozenset[Fill] = frozenset()
    listed: int = 100
    name: str = ""
    text: str = ""


@cache
def all_conventions() -> dict[str, Convention]:
    """Every convention by its name, which is its file's with dashes."""
    return _CONVENTIONS.all()


def by_name_and_alias() -> dict[str, Convention]:
    """Every convention by each of its names."""
    known = all_conventions()
    return known | {alias: one for one in known.values() for alias in one.aliases}


def find_convention(name: str) -> Convention:
    """A convention by its name or alias; RequestError with the nearest."""
    return find_named(name, by_name_and_alias())


def find_named(name: str, known: Mapping[str, T]) -> T:
    """What `known` has under a name; capitals, and '_', '-' or blanks within it, do not matter.

    RequestError with the nearest name where there is none.
    """
    names = {_folded(one): one for one in known}
    if _folded(name) in names:
        return known[names[_folded(name)]]
    near = nearest(_folded(name), names)
    hint = f"did you mean '{names[near[0]]}'?" if near else "'onnxpad explain' lists them"
    raise RequestError(f"no convention is called '{name}': {hint}")


def _folded(name: str) -> str:
    return re.sub(r"[\s_]+", "-", str(name).strip().casefold())


def find_op(op: str) -> tuple[str, int | None]:
    """(operator, rank) of a name such as conv, Conv2D, MaxPool2d; no rank without a digit."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(op).strip()).casefold()
    key = re.sub(r"[\s_-]+", "_", word)
    digit = re.search(r"([123])_?d", key)
    key = re.sub(r"_?[123]_?d", "", key)
    short = key
    for long, part in _LONG.items():
        short = short.replace(long, part)
    if short not in _SHORT:
        raise RequestError(f"no operator is called {op!r}{values.hint(key, dict.fromkeys(OPS))}")
    return _SHORT[short], int(digit[1]) if digit else None


def find_layer(convention: Convention, op: str) -> Layer:
    """The framework's layer for an operator; grouped and depthwise ones may be its conv."""
    for layer in convention.layers:
        if layer.op == op:
            return layer
    for layer in convention.layers:
        if layer.op == "conv" and op in {"depthwise_conv", "grouped_conv"}:
            return layer
    known = ", ".join(layer.op for layer in convention.layers)
    raise RequestError(f"{convention.name}: nothing is known of its {op}, only of {known}")


def frequent_first(names: Iterable[str]) -> list[str]:
    """The names of conventions, those that models come from most often first."""
    known = all_conventions()
    return sorted(names, key=lambda name: (known[name].listed, name))


_CHOSEN = {Role.ROUNDING: Rounding, Role.DIVISOR: Divisor, Role.FILL: Fill}
_SPECIAL = {"<none>": None, **{one.value: one for one in Special}}


@cache
def _convention_in(path: Path) -> Convention:
    record = tomllib.loads(path.read_text("utf-8"))
    words = {name: word_of(name, word) for name, word in record["words"].items()}
    return Convention(
        record["source"],
        tuple(layer_of(one, words, record["source"]) for one in record["layers"]),
        tuple(record.get("aliases", ())),
        frozenset(Fill[name] for name in record.get("pads_apart", ())),
        record.get("listed", 100),
        path.stem.replace("_", "-"),
        record["text"].strip(),
    )


def word_of(name: str, record: Record) -> Word:
    """The attribute `name` of a layer, from its record in a convention file."""
    name, role = record.get("name", name), Role[record["role"].upper()]
    choices: dict[object, object] = {}
    for choice in record.get("choices", ()):
        key, meaning = (choice, name) if role is Role.LABEL else choice
        choices[_special(key)] = getattr(_CHOSEN.get(role), meaning, meaning)
    return Word(
        name,
        role,
        _special(record.get("default", "<none>")),
        tuple(record.get("aliases", ())),
        record.get("axis"),
        choices,
        {_special(key): mode_of(text) for key, text in record.get("modes", ())},
        tuple(Layout[layout] for layout in record.get("layouts", ())),
        record.get("negative", False),
    )


def layer_of(record: Record, words: Mapping[str, Word], source: str) -> Layer:
    """A kind of layer, as a file of data has it; a `note` is added to the source of its file."""
    note = record.get("note")
    return Layer(
        record["op"],
        tuple(words[name] for name in record["words"]),
        HowKnown(record.get("known", HowKnown.EXECUTED)),
        f"{source}; {note}" if note else record.get("source", source),
        mode_of(record.get("number", "")),
        Rounding[record.get("rounding", Rounding.DOWN.name)],
        Divisor[record.get("divisor", Divisor.REAL.name)],
        Override[record.get("override", Override.SUM.name)],
        Outside[record.get("outside", Outside.UNKNOWN.name)],
        tuple(getattr(limits, name) for name in record.get("checks", ())),
        frozenset(record.get("ranks", (1, 2, 3))),
    )


def mode_of(text: str) -> Mode:
    """A way to pad: names of its rules, and what else it decides, with blanks between."""
    mode = Mode()
    for word in text.split():
        if word in PADS:
            mode = mode._replace(pad_rule=PADS[word])
        elif word in CUTS:
            mode = mode._replace(cut=CUTS[word])
        elif word in Rounding.__members__:
            mode = mode._replace(rounding=Rounding[word])
        elif word == "numbers":
            mode = mode._replace(takes_numbers=True)
        elif word == "undilated":
            mode = mode._replace(undilated=True)
        else:
            mode = mode._replace(fill=Fill[word])
    return mode


def _special(value: object) -> object:
    return _SPECIAL.get(value, value) if isinstance(value, str) else value


_CONVENTIONS = Plugins(__name__, "convention", _convention_in, suffix=".toml")
