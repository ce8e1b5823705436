"""What the text behind an option means: the kinds of the table of options."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import click

HERE = "here"
"""--live without a Python."""
_NUMBER = r"[0-9]{1,30}"
_FACT = re.compile(
    rf"(?!.*=\s*[0-9]+,)\s*([^%=\s].*?(?<![<>!\s]))\s*(%\s*{_NUMBER}\s*==?\s*{_NUMBER}|==?\s*({_NUMBER}))\s*"
)
"""A dimension, whose name may hold the signs as well, and what is known of it."""
_SHAPE = re.compile(rf"(.+)[:=]\s*[\[(]?((?:\s*{_NUMBER}\s*[x,])*\s*{_NUMBER})\s*[\])]?\s*")
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def _match(pattern: re.Pattern[str], text: str, expected: str) -> re.Match[str]:
    match = pattern.fullmatch(text)
    if match is None:
        raise click.BadParameter(f"cannot read '{text}': expected {expected}; one in each option")
    return match


def parse_dims(facts: Sequence[str]) -> dict[str, int | str]:
    """{'height': 640, 'width': '%32=0'} from 'height=640' and 'width%32=0'.

    Raises click.BadParameter for anything else, and for two facts about one dimension.
    """
    dims: dict[str, int | str] = {}
    for text in facts:
        name, fact, size = _match(_FACT, text, "NAME=SIZE or 'NAME%32=0'").groups()
        if name in dims:
            raise click.BadParameter(f"two facts about '{name}': give one")
        dims[name] = int(size) if size else fact
    return dims


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """{'images': (1, 3, 64, 64)} from 'images:1x3x64x64', or from 'images=1,3,64,64'.

    Raises click.BadParameter for anything else, and for two shapes of one input.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, sizes = _match(_SHAPE, text, "NAME:1x3x64x64").groups()
        if name in shapes:
            raise click.BadParameter(f"two shapes of '{name}': give one")
        shapes[name] = tuple(map(int, re.split("[x,]", sizes)))
    return shapes


def parse_live(value: str | None) -> bool | str:
    """What --live says: False without it, True for this Python, or the path of another one."""
    if value is None or value == HERE:
        return value is not None
    where = value if Path(value).exists() else which(value) or ""
    if not where:
        raise click.BadParameter(f"'{value}' is no Python, and no folder with node_modules")
    return os.path.abspath(where)  # noqa: PTH100 - the Python of an environment is a link


def settled_live(words: Sequence[str]) -> list[str]:
    """The words of a command line, where --live takes the next one only if that is a Python."""
    own = list(takewhile(lambda word: word != "--", words))
    settled = [
        f"--live={HERE}" if word == "--live" and not _is_python(following) else word
        for word, following in zip(own, [*own, ""][1:], strict=True)
    ]
    return [*settled, *words[len(own) :]]


def _is_python(word: str) -> bool:
    path = Path(word)
    if path.is_dir():
        return (path / "node_modules").is_dir() or (path / "pyvenv.cfg").is_file()
    is_program = path.parent.name == "bin" or "python" in path.name or path.name.startswith("pypy")
    return is_program and path.suffix != ".onnx"


def parse_value(text: str) -> object:
    """A number, a list, true, false, none, or the text itself."""
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value


def parse_sizes(text: str) -> list[int]:
    """[1, 3, 224, 224] from '1,3,224,224'."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"'{text}' is no number or list: write 7 or 7,5") from None


def parse_numbers(text: str) -> int | list[int]:
    """7 from '7', [7, 5] from '7,5'."""
    sizes = parse_sizes(text)
    return sizes[0] if len(sizes) == 1 else sizes


def parse_attributes(texts: Sequence[str]) -> dict[str, object]:
    """{'ceil_mode': True} from 'ceil_mode=true'."""
    attributes: dict[str, object] = {}
    for text in texts:
        name, is_there, value = text.partition("=")
        if not is_there or not name:
            raise click.BadParameter(f"cannot read '{text}': expected NAME=VALUE")
        if name in attributes:
            raise click.BadParameter(f"'{name}' is set twice")
        attributes[name] = parse_value(value)
    return attributes


def parse_layer(text: str) -> tuple[str, dict[str, object]]:
    """A framework and its attributes, from 'pytorch padding=3 ceil_mode=true'."""
    if not text.split():
        raise click.BadParameter("name a framework")
    name, *attributes = text.split()
    return name, parse_attributes(attributes)


class Kind(NamedTuple):
    """A type of click, and what reads the value of an option after that, or all its values."""

    type: click.ParamType[Any]
    read: Callable[[Any], object] | None = None


def _unless_none(read: Callable[[str], object]) -> Callable[[str | None], object]:
    return lambda text: None if text is None else read(text)


KINDS = {
    "flag": Kind(click.BOOL),
    "unset": Kind(click.BOOL, lambda given: not given),
    "text": Kind(click.STRING),
    "names": Kind(click.STRING, lambda names: list(names) or None),
    "globs": Kind(click.STRING, list),
    "words": Kind(click.UNPROCESSED),
    "model": Kind(click.Path(allow_dash=True)),
    "existing": Kind(click.Path(exists=True, dir_okay=False, allow_dash=True)),
    "there": Kind(click.Path(exists=True)),
    "file": Kind(click.Path(exists=True, dir_okay=False)),
    "file-name": Kind(click.Path(dir_okay=False)),
    "out": Kind(click.Path(dir_okay=False, allow_dash=True)),
    "folder": Kind(click.Path(file_okay=False)),
    "seconds": Kind(click.FloatRange(min=0, min_open=True)),
    "count": Kind(click.IntRange(min=1)),
    "seed": Kind(click.IntRange(min=0)),
    "tolerance": Kind(click.FloatRange(min=0)),
    "facts": Kind(click.STRING, parse_dims),
    "shapes": Kind(click.STRING, parse_shapes),
    "live": Kind(click.STRING, parse_live),
    "value": Kind(click.STRING, _unless_none(parse_value)),
    "sizes": Kind(click.STRING, _unless_none(parse_sizes)),
    "numbers": Kind(click.STRING, _unless_none(parse_numbers)),
    "attributes": Kind(click.STRING, parse_attributes),
    "layer": Kind(click.STRING, _unless_none(parse_layer)),
}


def kind_of(name: str) -> Kind:
    """A kind by its name in the table; 'a|b' is a choice."""
    return Kind(click.Choice(name.split("|"))) if "|" in name else KINDS[name]
