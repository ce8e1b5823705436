"""Pads that a model computes while it runs, and gets wrong at other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.runner import Broken, Runner
from onnxpad.diagnosis.suspects import Sizes, in_numbers
from onnxpad.geometry.size import Symbol
from onnxpad.padding.chain import Pads, is_same

Array = NDArray[Any]
Choice = tuple[int, ...]
_FARTHEST = 3


def broken_same(
    runner: Runner, chosen: Choice, groups: Mapping[int, tuple[int, ...]]
) -> dict[int, int]:
    """Suspects whose computed Pad means SAME and misses it at other sizes, with the SAME option.

    It means SAME where it pads here, and as SAME would (`groups` has what reads alike); it misses
    SAME where the operator gives fewer than ceil(size/stride) windows at some size close by:
    torch exports `-(-n // s)` with a Div that rounds towards zero, so odd sizes lose a cell. The
    inputs are grown by a few cells along open axes for that.
    """
    suspects = {}
    for number, group in groups.items():
        suspect = runner.suspects[number]
        option = next((o for o in group if is_same(suspect.options[o].chain.padding)), None)
        if suspect.computed and 0 in group and option is not None and _pads(runner, number, option):
            suspects[number] = option
    found: dict[int, int] = {}
    feeds = runner.feeds
    try:
        for grown in _grown(runner, feeds) if suspects else ():
            runner.feed(grown)
            for number in suspects.keys() - found.keys():
                if _loses(runner, number, chosen):
                    found[number] = suspects[number]
    finally:
        runner.feed(feeds)
    # One export writes all of them alike: what one of them loses, the others do at other sizes.
    return suspects if found else {}


def _pads(runner: Runner, number: int, option: int) -> bool:
    """Whether SAME pads anything at the sizes of the sample."""
    sizes = _sizes(runner, number, (0,) * len(runner.suspects))
    chain = (
        None if sizes is None else in_numbers(runner.suspects[number].options[option].chain, sizes)
    )
    return chain is not None and isinstance(chain.padding, Pads) and any(chain.padding.flat)


def _sizes(runner: Runner, number: int, chosen: Choice) -> Sizes | None:
    state = runner.before(number, chosen)
    return None if isinstance(state, Broken) else runner.sizes(number, state)


def _loses(runner: Runner, number: int, chosen: Choice) -> bool:
    """Whether the node as it is gives fewer windows than SAME."""
    state = runner.before(number, chosen)
    if isinstance(state, Broken):
        return False
    suspect, sizes = runner.suspects[number], runner.sizes(number, state)
    made = runner.local(number, 0, state)
    wanted = [-(-size // axis.stride) for size, axis in zip(sizes, suspect.chain.axes, strict=True)]
    if made is None:
        return False
    shape = made.shape[suspect.chain.spatial]
    return any(got < want for got, want in zip(shape, wanted, strict=True))


def _grown(runner: Runner, feeds: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """The sample with its last cells repeated along axes that the model leaves open."""
    types = runner.network.input_types()
    for more in range(1, _FARTHEST + 1):
        grown = {}
        for name, value in feeds.items():
            dims = types[name].dims or ()
            widths = [
                (0, more if axis and isinstance(size, Symbol) else 0)
                for axis, size in enumerate(dims)
            ]
            open_axes = value.ndim > 2 and len(widths) == value.ndim and any(map(any, widths))
            grown[name] = np.pad(value, widths, mode="edge") if open_axes else value
        if any(grown[name].shape != feeds[name].shape for name in feeds):
            yield grown
