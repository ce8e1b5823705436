"""The same layer as code of another framework, to paste; one file each, the folder is walked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import NamedTuple

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.conventions import by_name_and_alias
from onnxpad.padding.expansion import Step
from onnxpad.plugins import Plugins
from onnxpad.resolving import Resolution


def languages() -> tuple[str, ...]:
    """The frameworks in which layers can be written."""
    return tuple(_WRITERS)


def language_called(name: str) -> str:
    """The language that a framework's name stands for: 'torch' is pytorch, 'keras' tensorflow.

    RequestError for names of others.
    """
    known, folded = languages(), str(name).strip().casefold()
    if folded in known:
        return folded
    convention = by_name_and_alias().get(folded)
    found = convention.name if convention else ""
    if (own := _IN_WORDS_OF.get(found, found)) in known:
        return own
    raise RequestError(f"no code is written for {name!r}{values.hint(name, known)}")


_IN_WORDS_OF = {"keras": "tensorflow"}
"""Frameworks whose users can write what another one has: tf.nn takes what Keras gives."""


class Writer(NamedTuple):
    """How a framework writes a layer, a Pad alone, and what is said first about layouts."""

    layer: Callable[[Resolution], list[str]]
    pad: Callable[[Step], str]
    layout: Callable[[Resolution | None], list[str]]


def code_of(found: Resolution | None, language: str, front: Step | None = None) -> str:
    """A layer as lines of code, behind a Pad in `front`; one of both may be None.

    RequestError for unknown names and what has no such form. A first comment says where the layout
    of `x` and `weight` is not that of ONNX.
    """
    write = _WRITERS[language_called(language)]
    try:
        lines = write.layout(found)
        lines += [write.pad(front)] if front else []
        lines += write.layer(found) if found else []
    except RequestError as error:
        name = f"{found.framework} {found.op}" if found else "Pad"
        raise RequestError(f"{name} in {language}: {error.told}") from None
    return "\n".join(lines)


def call(name: str, *arguments: str) -> str:
    """`name(a, b)`, without arguments that are ''."""
    return f"{name}({', '.join(argument for argument in arguments if argument)})"


def tuple_of(numbers: Sequence[int]) -> str:
    """'3' for equal numbers, '(3, 5)' otherwise."""
    numbers = tuple(numbers)
    return str(numbers[0]) if len(set(numbers)) == 1 else str(numbers)


def quoted(text: str) -> str:
    """The text in double quotes."""
    return f'"{text}"'


def _writer_in(module: ModuleType) -> Writer:
    return Writer(module.layer, module.pad, module.layout)


_WRITERS = Plugins(__name__, "language", _writer_in)
