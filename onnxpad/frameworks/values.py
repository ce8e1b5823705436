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
    if not is_list(value):
        return (whole(value, word.name, least),) * rank
    found = items(value)
    if Layout.PAIRS_CHANNELS_LAST in word.layouts and len(found) == rank + 2:
        if found[0] != 1 or found[-1] != 1:
            raise RequestError(f"{word.name} is {_shown(value)}: batch and channels must be 1")
        found = found[1:-1]
    if len(found) != rank:
        raise RequestError(
            f"{word.name} is {_shown(value)}: {counted(len(found), 'value')} for "
            f"{counted(rank, 'axis', 'axes')}, give one for each or one number for all"
        )
    return tuple(whole(item, word.name, least) for item in found)


def pads(value: object, word: Word, rank: int) -> tuple[Pair, ...]:
    """Explicit (begin, end) of each axis, in any of the layouts that the framework takes."""
    least = -LARGEST if word.negative else 0
    found = items(value)
    if not is_list(value) and Layout.EACH in word.layouts:
        return ((whole(value, word.name, least),) * 2,) * rank
    if any(is_list(item) for item in found):
        return _pairs(found, word, rank, least)
    if is_list(value):
        numbers = [whole(item, word.name, least) for item in found]
        if Layout.EACH in word.layouts and len(numbers) == rank:
            return tuple((number, number) for number in numbers)
        if len(numbers) == 2 * rank and Layout.BEGINS_ENDS in word.layouts:
            return tuple(zip(numbers[:rank], numbers[rank:], strict=True))
        if len(numbers) == 2 * rank and Layout.INTERLEAVED in word.layouts:
            return tuple(zip(numbers[::2], numbers[1::2], strict=True))
    raise RequestError(
        f"{word.name} is {_shown(value)}; for {counted(rank, 'axis', 'axes')} give {_forms(word)}"
    )


def _pairs(found: Sequence[object], word: Word, rank: int, least: int) -> tuple[Pair, ...]:
    """Pairs of the axes; batch and channels, where they are listed, must not be padded."""
    pairs: list[Pair] = []
    for item in found:
        numbers = items(item)
        if len(numbers) != 2:
            raise RequestError(f"{word.name} holds {_shown(item)}, which is not (begin, end)")
        pairs.append((whole(numbers[0], word.name, least), whole(numbers[1], word.name, least)))
    if Layout.PAIRS in word.layouts and len(pairs) == rank:
        return tuple(pairs)
    if len(pairs) == rank + 2:
        if Layout.PAIRS_CHANNELS_LAST in word.layouts:
            others, own = [pairs[0], pairs[-1]], pairs[1:-1]
        elif Layout.PAIRS_CHANNELS_FIRST in word.layouts:
            others, own = pairs[:2], pairs[2:]
        else:
            others, own = [], []
        if own and others == [(0, 0), (0, 0)]:
            return tuple(own)
        if own:
            raise RequestError(f"{word.name} pads batch or channels: {_shown(list(found))}")
    raise RequestError(
        f"{word.name} has {counted(len(pairs), 'pair')}; for {counted(rank, 'axis', 'axes')} it is "
        f"{_forms(word)}"
    )


def flags(value: object, word: Word, rank: int) -> tuple[bool, ...]:
    """true or false for each axis; channels in front of them are dropped."""
    found = items(value)
    if not all(item is True or item is False for item in found):
        raise RequestError(f"{word.name} is {_shown(value)}, but takes true and false only")
    if len(found) == 1:
        found = found * rank
    if len(found) not in {rank, rank + 1}:
        raise RequestError(
            f"{word.name} has {counted(len(found), 'value')} for {counted(rank, 'axis', 'axes')}"
        )
    return tuple(item is True for item in found[-rank:])


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
