"""Guesses of the whole network: all nodes as one framework would pad them, or edited alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import TypeAlias

from onnxpad.diagnosis.options import Suspect, opened, padded_cells, written_as
from onnxpad.frameworks.conventions import all_conventions, frequent_first
from onnxpad.padding.chain import Chain, NewPad, Pads, is_same
from onnxpad.retargeting.habits import PLACEMENTS
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.move import moved
from onnxpad.retargeting.windows_read import differs

Choice: TypeAlias = tuple[int, ...]
"""The option of each suspect."""
Guess: TypeAlias = tuple[str, Choice]


@lru_cache(maxsize=1)
def convention_names() -> tuple[str, ...]:
    """Conventions with rules for layers, the frequent ones first, and the three placements."""
    return (*frequent_first(all_conventions()), *PLACEMENTS)


def guesses(suspects: Sequence[Suspect]) -> Iterator[Guess]:
    """As it is, whole conventions, then cells of one mode in place of those that are padded now."""
    yield "as it is", (0,) * len(suspects)
    for title, rule in (
        ("all nodes as {}", by_meaning),
        ("all padded nodes SAME as {}", _same),
        ("all nodes SAME as {}", always_same),
    ):
        for name in convention_names():
            yield title.format(name), tuple(map(partial(rule, name=name), suspects))
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield f"all nodes padded by mode {mode}", tuple(_by_mode(one, mode) for one in suspects)


def _by_mode(suspect: Suspect, mode: str) -> int:
    """As many cells as now, which the operator pads by itself where they are zeros."""
    cells, is_own = padded_cells(suspect.chain), mode == "constant"

    def fits(one: Chain) -> bool:
        step = one.pad
        same = step is None if is_own else step is not None and step.mode == mode
        return same and padded_cells(one) == cells

    return next((n for n, one in enumerate(suspect.options) if cells and fits(one)), 0)


@lru_cache(maxsize=20_000)
def _moved(chain: Chain, name: str) -> Chain | None:
    made = moved(chain, name)
    return made if isinstance(made, Chain) else None


def by_meaning(suspect: Suspect, name: str) -> int:
    """What `retarget --to` would make of the node, at any size or else at the size in the model."""
    for chain in (opened(suspect.chain), suspect.chain):
        wanted = _moved(chain, name)
        if wanted is not None:
            written, options = written_as(wanted), suspect.options
            alike = (n for n, one in enumerate(options) if written_as(one) == written)
            reads = (n for n, one in enumerate(options) if not differs(one, wanted))
            return next(alike, 0) or next(reads, 0)
    return 0


def _same(suspect: Suspect, name: str) -> int:
    chain = suspect.chain
    is_padded = chain.pad is not None or is_same(chain.padding) or any(padded_cells(chain))
    return always_same(suspect, name) if is_padded else 0


def always_same(suspect: Suspect, name: str) -> int:
    """The convention's own way to keep ceil(size/stride) windows."""
    for number, one in enumerate(suspect.options):
        if _keeps(one) and (name in suspect.conventions(number) or name == label_of(one)):
            return number
    return 0


def _keeps(chain: Chain) -> bool:
    """Whether this is meant to give ceil(size/stride) windows."""
    if chain.ceil_mode or not isinstance(chain.pad, NewPad | None):
        return False
    pads = chain.padding
    if not isinstance(pads, Pads):
        return is_same(pads)
    rows = zip(pads.begins, pads.ends, chain.axes, strict=True)
    return any(pads.flat) and all(begin + end <= axis.span for begin, end, axis in rows)
