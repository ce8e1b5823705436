"""Joint guesses of padding that no framework has by itself: nodes that are alike, padded alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from onnxpad.diagnosis.hypotheses import Guess
from onnxpad.diagnosis.sites import Place
from onnxpad.padding.chain import Chain, Pads
from onnxpad.retargeting.labels import label_of


def handmade_guesses(places: Sequence[Place]) -> Iterator[Guess]:
    """One kind of cells in all Pads, half a window less one everywhere, then like nodes alike."""
    for title, rule in _RULES:
        yield Guess(title, tuple(rule(place) for place in places))
    groups: dict[object, list[int]] = {}
    for number, place in enumerate(places):
        groups.setdefault(_shape(place.chain), []).append(number)
    for numbers in groups.values():
        if len(numbers) > 1:
            yield from _alike(places, numbers)


def _alike(places: Sequence[Place], numbers: Sequence[int]) -> Iterator[Guess]:
    """Every handmade way of the first node, at all of them."""
    first = places[numbers[0]]
    for option in first.options[first.named :]:
        wanted = label_of(option.chain)
        chosen = [0] * len(places)
        for number in numbers:
            chosen[number] = _found(places[number], lambda c, w=wanted: label_of(c) == w)  # type: ignore[misc]
        yield Guess(f"all nodes like {first.label}: {option.label}", tuple(chosen))


def _shape(chain: Chain) -> object:
    windows = tuple((axis.kernel, axis.stride, axis.dilation) for axis in chain.axes)
    return chain.op.kind, windows, chain.padding, chain.pad and (chain.pad.pads, chain.pad.mode)


def _found(place: Place, fits: Callable[[Chain], bool]) -> int:
    """The first way that fits; the present one where none does."""
    found = (number for number, one in enumerate(place.options) if number and fits(one.chain))
    return next(found, 0)


def _mode(mode: str) -> Callable[[Chain], bool]:
    def fits(chain: Chain) -> bool:
        return chain.pad is not None and chain.pad.is_new and chain.pad.mode == mode

    return fits


def _lower_half(chain: Chain) -> bool:
    halves = tuple((axis.span - 1) // 2 for axis in chain.axes)
    return chain.pad is None and chain.padding == Pads(halves, halves) and not chain.ceil_mode


def _instead(place: Place) -> int:
    """Zeros of its own in place of a Pad that holds something else."""
    step = place.chain.pad
    if step is None or step.unclear:
        return 0
    own = place.chain.padding
    front = Pads(step.pads.begins[place.chain.spatial], step.pads.ends[place.chain.spatial])
    wanted = own + front if isinstance(own, Pads) else front
    return _found(place, lambda chain: chain.pad is None and chain.padding == wanted)


_RULES: tuple[tuple[str, Callable[[Place], int]], ...] = (
    ("zeros instead of what Pads hold", _instead),
    ("Pads that reflect", lambda place: _found(place, _mode("reflect"))),
    ("Pads that repeat the edge", lambda place: _found(place, _mode("edge"))),
    ("(kernel-1)/2 cells at both sides", lambda place: _found(place, _lower_half)),
)
