"""The exception tree.

OnnxpadError
├── ModelError           the model cannot be read, is invalid, or cannot be written
├── RequestError         what was asked for does not exist or contradicts itself
├── RuntimeUnavailable   a device or runtime was asked for that is not there
├── LimitMet             native code was ended at the time or the memory that it may take
└── InternalError        onnxpad broke one of its own laws: please report it
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

WORD, TEXT = 500, 2_500
"""Characters that a message repeats of one word of what it was given, and that it has at most."""


TRY = "\n  try     "
"""What stands between a message and each thing to try."""


def brief(text: str) -> str:
    """The text with the begin and the end of what is too long to be read."""
    if len(text) <= WORD:
        return text
    return _cut(" ".join(_cut(word, WORD) for word in text.split(" ")), TEXT)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2 - 10
    return f"{text[:half]}...({len(text) - 2 * half} more)...{text[-half:]}"


class OnnxpadError(Exception):
    """Root of every error that onnxpad raises on purpose.

    Messages name options as the command line has them: --dim 'H=640' is dims={'H': 640}.
    """

    def __str__(self) -> str:
        return brief(super().__str__())


class ModelError(OnnxpadError):
    """A model cannot be read, is not valid, or cannot be written; names the file or node."""


class RequestError(OnnxpadError):
    """A name, option or value in the request is wrong; suggests the nearest one where it can."""


class RuntimeUnavailable(OnnxpadError):
    """A device or runtime was asked for that cannot be opened; nothing else is tried instead."""


class LimitMet(OnnxpadError):
    """Native code was ended at the time or the memory that it may take; says what to type.

    `ended` says what was ended, `larger` the limit that gives it more: {'timeout': 600}.
    """

    def __init__(self, ended: str, larger: Mapping[str, int | str] | None = None) -> None:
        self.ended, self.larger = ended, dict(larger or {})
        super().__init__(ended + larger_text(self.larger))


class InternalError(OnnxpadError):
    """A rewrite broke a law that onnxpad promises to keep; nothing was written."""


_ONNX = "onnx refuses it: {}; onnx.checker.check_model says more, or export it again"
_FAULTS = {
    "MemoryError": "it needs more memory than there is; use a machine with more, or smaller sizes",
    "RecursionError": "it is nested too deeply; export it with fewer levels of subgraphs or calls",
    "OverflowError": "a number in it is too large: {}; export or save it again",
    "UnicodeDecodeError": "a text in it is not UTF-8: {}; export or save it again",
    "UnicodeEncodeError": "a text in it cannot be written: {}; export or save it again",
    "TokenError": "a header in it cannot be read: {}; save it again",
    "DecodeError": "a part of it is damaged: {}; export, download or copy it again",
    "EncodeError": "it cannot be written as one file: {}; keep the weights in external data",
    "ValidationError": _ONNX,
    "SchemaError": _ONNX,
    "InferenceError": _ONNX,
    "TypeInferenceError": _ONNX,
}


def fault_in(error: Exception) -> str | None:
    """What to say of an exception that a file or a value causes, not a mistake in onnxpad.

    onnx and protobuf are not imported for that: their exceptions are known by name.
    """
    if isinstance(error, OSError):
        return f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
    if isinstance(error, ValueError) and "integer string conversion" in str(error):
        return "a number in it has thousands of digits; no size is that large"
    names = (kind.__name__ for kind in type(error).__mro__)
    found = next((_FAULTS[name] for name in names if name in _FAULTS), None)
    return None if found is None else found.format(headline(error))


_SUSPECTS: ContextVar[list[Callable[[], str | None]] | None] = ContextVar("suspects", default=None)


def suspect(why: Callable[[], str | None]) -> None:
    """Let `why` say what is wrong with a file, should an exception arise that nobody expects.

    It is forgotten at the end of `blaming_the_file`, and means nothing outside of it.
    """
    found = _SUSPECTS.get()
    if found is not None:
        found.append(why)


@contextmanager
def blaming_the_file() -> Iterator[None]:
    """Turn exceptions that a file causes into ModelError; also a decorator, `@blaming_the_file()`.

    Raises ModelError for them, and for any other while a file was opened that is not valid. All
    others pass.
    """
    suspects: list[Callable[[], str | None]] = []
    token = _SUSPECTS.set(suspects)
    try:
        yield
    except OnnxpadError:
        raise
    except Exception as error:
        said = fault_in(error) or next(filter(None, (why() for why in suspects)), None)
        if said is None or isinstance(error, BrokenPipeError):
            raise
        raise ModelError(said) from error
    finally:
        _SUSPECTS.reset(token)


def headline(error: Exception) -> str:
    """The first line of what an exception says, to stand in a sentence: below it is what to try."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip() if lines else type(error).__name__


def larger_text(limits: Mapping[str, int | str]) -> str:
    """'; --timeout 600 gives it more'; '' for no limit."""
    return "".join(f"; --{name} {value} gives it more" for name, value in limits.items())


def few(names: Sequence[str], most: int) -> str:
    """'a, b and 4 more': so many names at most, and how many others there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def either(choices: Sequence[str]) -> str:
    """'a', 'a or b', 'a, b, or c'; where one has a comma itself, 'a, with which b; or c'."""
    return _joined(choices, "or")


def together(steps: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b, and c'; where one has a comma itself, 'a, and b; and c'."""
    return _joined(steps, "and")


def _joined(parts: Sequence[str], word: str) -> str:
    nested = any(mark in part for part in parts for mark in (", ", " or ", " and "))
    if nested:
        return f"; {word} ".join(("; ".join(parts[:-1]), parts[-1])) if parts[1:] else parts[0]
    if len(parts) < 3:
        return f" {word} ".join(parts)
    return ", ".join(parts[:-1]) + f", {word} {parts[-1]}"


def counted(number: int, singular: str, plural: str = "") -> str:
    """'1 node', '2 nodes'."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names that are most like one that is not known; capitals do not matter."""
    name = str(name)
    if len(name) > WORD:
        return []
    from difflib import get_close_matches  # only errors need it

    folded = {one.casefold(): one for one in known}
    return [folded[match] for match in get_close_matches(name.casefold(), folded, most, cutoff=0.7)]
