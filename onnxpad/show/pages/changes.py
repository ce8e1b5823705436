"""Nodes before and after a change, drawn side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from onnxpad.padding.chain import Chain
from onnxpad.show.pages.drawings import Drawing, drawing_of
from onnxpad.show.pages.figures import legend, sentence, window_figure
from onnxpad.show.pages.page import CARDS, Card, Picture
from onnxpad.show.wording import visible


class Changed(NamedTuple):
    """A node that was changed, `by` what; `was` and `is_now` say in words how it pads.

    `after` is None where other operators take its place.
    """

    node: str
    op: str
    by: str
    was: str
    is_now: str
    before: Chain
    after: Chain | None


def changed_cards(changes: Iterable[Changed]) -> Iterator[Card]:
    """A card for all nodes that changed alike."""
    alike: dict[tuple[str, str, str, str, Drawing, Drawing | None], list[str]] = {}
    for one in changes:
        drawn = drawing_of(one.before), None if one.after is None else drawing_of(one.after)
        alike.setdefault((one.op, one.by, one.was, one.is_now, *drawn), []).append(one.node)
    for number, (kind, nodes) in enumerate(islice(alike.items(), CARDS + 1), 1):
        op, by, was, is_now, before, after = kind
        more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
        names = tuple(map(visible, nodes))
        yield Card(
            f"change-{number}",
            f"{by}: {op} {names[0]}{more}",
            _words(before, after),
            tuple(_pictures(number, before, after, (visible(was), visible(is_now)))),
            legend(before, *([] if after is None else [after])),
            names[1:],
        )


def _pictures(
    number: int, before: Drawing, after: Drawing | None, words: tuple[str, str]
) -> Iterator[Picture]:
    (was, is_now), place = words, f"change-{number}"
    if after == before:
        yield Picture(window_figure(before, place=place), f"before: {was}; after: {is_now}")
        return
    yield Picture(window_figure(before, title="before", place=place), f"before: {was}")
    if after is None:
        yield Picture("", f"after: {is_now}")
    else:
        yield Picture(window_figure(after, title="after", place=place), f"after: {is_now}")


def _words(before: Drawing, after: Drawing | None) -> str:
    if after == before:
        return visible(f"The same cells are read, before and after: {sentence(before)}")
    if after is None:
        return visible(sentence(before))
    return visible(f"Before: {sentence(before)} After: {sentence(after)}")
