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

from onnxpad.errors import RequestError

DIGITS = 30
HERE = "here"
"""--live without a Python."""
_SHAPE = re.compile(r"(.+)[:=]\s*[\[(]?((?:\s*\d+\s*[x,])*\s*\d+)\s*[\])]?\s*", re.ASCII)
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def parse_memory(size: str | None) -> int | None:
    """Bytes of '4G'; raises click.BadParameter for what is no size."""
    if size is None:
        return None
    from onnxpad.processes import bytes_of

    try:
        return bytes_of(size)
    except RequestError as error:
        raise click.BadParameter(str(error)) from None


def parse_dims(facts: Sequence[str]) -> dict[str, int | str]:
    """{'height': 640, 'width': '%32=0'} from 'height=640' and 'width%32=0'.

    Raises click.BadParameter for anything else, and for two facts about one dimension.
    """
    dims: dict[str, int | str] = {}
    for text in facts:
        parts = text.split(",")
        if len(parts) > 1 and all(_fact(part) for part in parts):
            each = " ".join(f"--dim '{part.strip()}'" for part in parts)
            raise click.BadParameter(f"'{text}' is several facts: repeat the option, {each}")
        parsed = _fact(text)
        if parsed is None:
            raise click.BadParameter(f"cannot read '{text}': expected NAME=SIZE or 'NAME%32=0'")
        name, fact = parsed
        if name in dims:
            raise click.BadParameter(f"two facts about '{name}': give one")
        dims[name] = fact
    return dims


def _fact(text: str) -> tuple[str, int | str] | None:
    """A dimension and its fact; read from the end, since names may hold the signs too."""
    text = text.strip()
    front, _, number = text.rpartition("=")
    front = front.removesuffix("=")
    name, percent, divisor = front.rpartition("%")
    numbers = [number.strip()]
    divides = bool(percent and name and divisor.strip().isdecimal())
    if divides:
        numbers.append(divisor.strip())
    else:
        name = front
    if not name or name[0] in "%=" or name[-1] in "<>!" or not numbers[0].isdecimal():
        return None
    if max(map(len, numbers)) > DIGITS:
        raise click.BadParameter(f"'{text}': a size has at most {DIGITS} digits")
    return name.rstrip(), text[len(name) :] if divides else int(number)


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """{'images': (1, 3, 64, 64)} from 'images:1x3x64x64', or from 'images=1,3,64,64'.

    Raises click.BadParameter for anything else, and for two shapes of one input.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        match = _SHAPE.fullmatch(text)
        if match is None:
            raise click.BadParameter(f"cannot read '{text}': expected NAME:1x3x64x64")
        name, sizes = match[1], re.split("[x,]", match[2])
        if name in shapes:
            raise click.BadParameter(f"two shapes of '{name}': give one")
        if max(map(len, sizes)) > DIGITS:
            raise click.BadParameter(f"'{text}': a size has at most {DIGITS} digits")
        shapes[name] = tuple(map(int, sizes))
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
    behind = [*own[1:], ""]
    settled = [
        f"--live={HERE}" if word == "--live" and not _is_python(following) else word
        for word, following in zip(own, behind, strict=True)
    ]
    return [*settled, *words[len(own) :]]


def _is_python(word: str) -> bool:
    path = Path(word)
    if path.is_dir():
        return (path / "node_modules").is_dir() or (path / "pyvenv.cfg").is_file()
    return path.name.startswith(("python", "pypy")) and path.suffix != ".onnx"


def parse_value(text: str) -> object:
    """A number, a list, true, false, none, or the text itself."""
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value


def parse_sizes(text: str | None) -> list[int] | None:
    """[1, 3, 224, 224] from '1,3,224,224'."""
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"'{text}' is no number or list: write 7 or 7,5") from None


def parse_numbers(text: str | None) -> int | list[int] | None:
    """7 from '7', [7, 5] from '7,5'."""
    sizes = parse_sizes(text)
    return sizes[0] if sizes and len(sizes) == 1 else sizes


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


def parse_layer(text: str | None) -> tuple[str, dict[str, object]] | None:
    """A framework and its attributes, from 'pytorch padding=3 ceil_mode=true'."""
    if text is None:
        return None
    if not text.split():
        raise click.BadParameter("name a framework")
    name, *attributes = text.split()
    return name, parse_attributes(attributes)


class Kind(NamedTuple):
    """A type of click, and what reads the value of an option, or all its values, after that."""

    type: click.ParamType[Any]
    read: Callable[[Any], object] | None = None


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
    "new": Kind(click.Path(dir_okay=False, writable=True, allow_dash=True)),
    "folder": Kind(click.Path(file_okay=False)),
    "seconds": Kind(click.FloatRange(min=0, min_open=True)),
    "count": Kind(click.IntRange(min=1)),
    "seed": Kind(click.IntRange(min=0)),
    "tolerance": Kind(click.FloatRange(min=0)),
    "memory": Kind(click.STRING, parse_memory),
    "facts": Kind(click.STRING, parse_dims),
    "shapes": Kind(click.STRING, parse_shapes),
    "live": Kind(click.STRING, parse_live),
    "value": Kind(click.STRING, lambda text: None if text is None else parse_value(text)),
    "sizes": Kind(click.STRING, parse_sizes),
    "numbers": Kind(click.STRING, parse_numbers),
    "attributes": Kind(click.STRING, parse_attributes),
    "layer": Kind(click.STRING, parse_layer),
}


def kind_of(name: str) -> Kind:
    """A kind by its name in the table; 'a|b' is a choice."""
    return Kind(click.Choice(name.split("|"))) if "|" in name else KINDS[name]
