"""The same layer as code of another framework, to paste; one file each, the folder is walked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.plugins import Plugins
from onnxpad.resolving import Resolution


def languages() -> tuple[str, ...]:
    """The frameworks in which layers can be written."""
    return tuple(_WRITERS)


def code_of(found: Resolution, language: str) -> str:
    """The layer as lines of code; RequestError for unknown names and what has no such form.

    A first comment says where the layout of `x` and `weight` is not that of ONNX.
    """
    known = languages()
    if language not in known:
        raise RequestError(f"no code is written for {language!r}{values.hint(language, known)}")
    try:
        return _WRITERS[language](found)
    except RequestError as error:
        raise RequestError(f"{found.framework} {found.op} in {language}: {error}") from None


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


def _writer_in(module: ModuleType) -> Callable[[Resolution], str]:
    write: Callable[[Resolution], str] = module.write
    return write


_WRITERS = Plugins(__name__, "language", _writer_in)
