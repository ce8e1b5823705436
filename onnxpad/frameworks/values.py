"""Values of attributes: numbers, one for each axis, pairs, and choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import TypeVar

from onnxpad.errors import RequestError, counted, nearest
from onnxpad.frameworks.choices import Layout
from onnxpad.frameworks.layer import Pair, Word

LARGEST = 2**31 - 1
_T = TypeVar("_T")


def whole(value: object, name: str, least: int, most: int = LARGEST) -> int:
    """An integer within limits; RequestError for anything else, booleans and floats included."""
    try:
        number = index(value)  # type: ignore[arg-type] # it raises TypeError for what has none
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise RequestError(f"{name} is {_shown(value)}, which is not an integer")
    if not least <= number <= most:
        limit = f"at least {least}" if number < least else f"at most {most}"
        raise RequestError(f"{name} is {number}, but must be {limit}")
    return number


def is_list(value: object) -> bool:
    """Whether a value is a list of values: lists, tuples and arrays, but no text."""
    sized = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    return (
        sized and not isinstance(value, str | bytes | Mapping) and getattr(value, "shape", 1) != ()
    )


def items(value: object) -> list[object]:
    """The values of a list."""
    return list(value) if is_list(value) else [value]  # type: ignore[call-overload] # is_list checked


def per_axis(value: object, word: Word, rank: int, least: int) -> tuple[int, ...]:
    """One number for each axis, from one number or a list of them."""
    found = items(value) if is_list(value) else [value] * rank
    has_others = Layout.PAIRS_CHANNELS_LAST in word.layouts and len(found) == rank + 2
    if has_others and whole(found[0], word.name, 1) == whole(found[-1], word.name, 1) == 1:
        found = found[1:-1]
    if len(found) != rank:
        raise _other(value, word, rank, "one number, or one for each")
    return tuple(whole(item, word.name, least) for item in found)


_PAIRS = {Layout.PAIRS: (0, 0), Layout.PAIRS_CHANNELS_LAST: (1, 1)}
_PAIRS[Layout.PAIRS_CHANNELS_FIRST] = (2, 0)
"""How many pairs stand in front of those of the axes and behind: batch and channels."""


def pads(value: object, word: Word, rank: int) -> tuple[Pair, ...]:
    """Explicit (begin, end) of each axis, in any of the layouts that the framework takes."""
    least, rows = -LARGEST if word.negative else 0, _rows(value, word.layouts, rank)
    if rows is None or len(rows) != rank or any(len(row) != 2 for row in rows):
        raise _other(value, word, rank, _forms(word))
    return tuple(
        (whole(begin, word.name, least), whole(end, word.name, least)) for begin, end in rows
    )


def _rows(value: object, layouts: Sequence[Layout], rank: int) -> Sequence[Sequence[object]] | None:
    """Begin and end of each axis; None where no layout fits, or batch or channels are padded."""
    if not is_list(value):
        return [(value, value)] * rank if Layout.EACH in layouts else None
    found = items(value)
    if any(map(is_list, found)):
        rows = [tuple(items(item)) for item in found]
        for layout, (front, behind) in _PAIRS.items():
            others = rows[:front] + rows[front + rank :]
            if layout in layouts and others == [(0, 0)] * (front + behind):
                return rows[front : front + rank]
    elif Layout.EACH in layouts and len(found) == rank:
        return [(one, one) for one in found]
    elif Layout.BEGINS_ENDS in layouts and len(found) == 2 * rank:
        return list(zip(found[:rank], found[rank:], strict=True))
    elif Layout.INTERLEAVED in layouts and len(found) == 2 * rank:
        return list(zip(found[::2], found[1::2], strict=True))
    return None


def flags(value: object, word: Word, rank: int) -> tuple[bool, ...]:
    """true or false for each axis; channels in front of them are dropped."""
    found = items(value)
    found = found * rank if len(found) == 1 else found
    if len(found) not in {rank, rank + 1} or not all(one is True or one is False for one in found):
        raise _other(value, word, rank, _forms(word))
    return tuple(item is True for item in found[-rank:])


def _other(value: object, word: Word, rank: int, forms: str) -> RequestError:
    axes = counted(rank, "axis", "axes")
    return RequestError(f"{word.name} is {_shown(value)}; for {axes} give {forms}")


def chosen(value: object, word_name: str, choices: Mapping[object, _T]) -> _T:
    """What a choice stands for; capitals of texts do not matter. RequestError names the others."""
    folded = {_folded(key): item for key, item in choices.items()}
    try:
        if _folded(value) in folded:
            return folded[_folded(value)]
    except TypeError:
        pass
    raise RequestError(f"{word_name} is {_shown(value)}{hint(value, choices)}")


def hint(value: object, known: Iterable[object]) -> str:
    """'; did you mean ...?', and what there is."""
    names = {str(name): name for name in known}
    near = nearest(str(value), names)
    there = f"it is one of {', '.join(map(_shown, names.values()))}"
    return f"; did you mean {names[near[0]]!r}? I{there[1:]}" if near else f"; {there}"


def _folded(value: object) -> object:
    return value.casefold() if isinstance(value, str) else value


def _forms(word: Word) -> str:
    named = [repr(name) for name in word.modes if isinstance(name, str)]
    return ", or ".join([*named, *map(str, word.layouts)])


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
