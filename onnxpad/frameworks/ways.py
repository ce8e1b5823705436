"""Each way in which a layer can pad: read forwards by what moves models, backwards by `fits`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from onnxpad.frameworks.choices import Divisor, Fill, Layout, Override, Role, Rounding
from onnxpad.frameworks.layer import Check, Layer, Mode, Takes
from onnxpad.frameworks.rules import EXPLICIT, VALID


class Way(NamedTuple):
    """One way in which a layer can pad; `modes` are several for axes apart."""

    modes: tuple[Mode, ...]
    fill: Fill
    rounding: Rounding
    divisor: Divisor
    checks: tuple[Check, ...]
    takes: Takes


def ways(layer: Layer) -> Iterator[Way]:
    """Each way in which the layer can pad, the default first, no padding attribute last."""
    takes = layer.takes
    bare = takes._replace(alike=False, pairs=False, negative=False)
    sums = bool(layer.of(Role.OVERRIDE)) and layer.override is Override.SUM
    given = {Divisor.WHOLE} if sums else set()  # a divisor can be the size of the window
    for modes in _modes(layer):
        numbers = any(mode in {layer.number, EXPLICIT} or mode.takes_numbers for mode in modes)
        plain = tuple(mode._replace(rounding=None, fill=None) for mode in modes)
        for fill, rounding, divisor in product(
            {mode.fill for mode in modes if mode.fill} or layer.choices(Role.FILL, Fill.ZEROS),
            {mode.rounding for mode in modes if mode.rounding}
            or layer.choices(Role.ROUNDING, layer.rounding),
            layer.choices(Role.DIVISOR, layer.divisor) | given,
        ):
            yield Way(plain, fill, rounding, divisor, layer.checks, takes if numbers else bare)


def _modes(layer: Layer) -> Iterator[tuple[Mode, ...]]:
    """What the layer's padding can be set to; every framework can leave padding out."""
    words = layer.of(Role.PADDING)
    for word in words:
        rows = sorted(word.modes.items(), key=lambda row, word=word: row[0] != word.default)  # type: ignore[misc]
        modes = [mode for _, mode in rows]
        yield from [tuple(modes)] if Layout.FLAGS in word.layouts else zip(modes)
    if not any(word.default in word.modes for word in words) or any(w.layouts for w in words):
        yield (layer.number if layer.number != Mode() else EXPLICIT,)
    elif layer.op != "conv_transpose":
        yield (VALID,)
