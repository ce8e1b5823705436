"""Inputs prepared otherwise, or padded in front of the model: they may give a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from onnxpad.diagnosis.runner import Array, Feeds

Change: TypeAlias = Callable[[Array], Array]
Sides: TypeAlias = Sequence[tuple[int, int]]
"""Cells at the begin and at the end of each spatial axis."""
_COLOURS, _SMALLEST = 3, 8
# Mean and deviation of ImageNet in red, green and blue, as torchvision and timm take them off
# (https://docs.pytorch.org/vision/stable/models.html), and the mean that Caffe takes off
# (keras.applications.imagenet_utils.preprocess_input, mode caffe).
_MEAN, _DEVIATION, _CAFFE = (
    np.array(one, np.float32).reshape(1, _COLOURS, 1, 1)
    for one in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), (103.939, 116.779, 123.68))
)
_SCALES: dict[str, Change] = {
    "is divided by 255": lambda x: x / 255,
    "is multiplied by 255": lambda x: x * 255,
    "is scaled from 0..1 to -1..1": lambda x: 2 * x - 1,
    "is scaled from 0..255 to -1..1": lambda x: x / 127.5 - 1,
    "is scaled from -1..1 to 0..1": lambda x: (x + 1) / 2,
}
_COLOUR_SCALES: dict[str, Change] = {
    "has the mean of ImageNet taken off and is divided by its deviation": (
        lambda x: (x - _MEAN) / _DEVIATION
    ),
    "is divided by 255, and normalised by the mean and deviation of ImageNet": (
        lambda x: (x / 255 - _MEAN) / _DEVIATION
    ),
    "is multiplied by the deviation of ImageNet and has its mean added": (
        lambda x: x * _DEVIATION + _MEAN
    ),
    "has the mean of Caffe taken off": lambda x: x - _CAFFE,
}


def preparations(feeds: Feeds) -> Iterator[tuple[str, Callable[[Feeds], Feeds]]]:
    """Every input prepared otherwise, in the ways of images, and what is said of each."""
    for name, value in feeds.items():
        is_image = value.ndim == _COLOURS + 1 and min(value.shape[2:]) >= _SMALLEST
        if value.dtype.kind == "f" and is_image:
            for said, change in _changes(value):
                yield f"'{name}' {said}", partial(_prepared, name, change)


def _prepared(name: str, change: Change, feeds: Feeds) -> Feeds:
    made = np.ascontiguousarray(change(feeds[name]))
    return {**feeds, name: made.astype(feeds[name].dtype)}


def _changes(value: Array) -> Iterator[tuple[str, Change]]:
    is_coloured = value.shape[1] == _COLOURS
    scales = (_COLOUR_SCALES if is_coloured else {}) | _SCALES
    if is_coloured:
        turned = "has its channels in reverse order (RGB and BGR)"
        yield turned, lambda x: x[:, ::-1]
        for said, change in scales.items():
            yield f"{turned} and {said}", lambda x, change=change: change(x[:, ::-1])  # type: ignore[misc]
    yield from scales.items()
    if value.shape[2] == value.shape[3]:
        yield "has rows and columns swapped", lambda x: x.swapaxes(2, 3)


# Applications pad an image on all sides before they cut it into tiles, or behind it to a multiple.
_AROUND, _MULTIPLES = (16, 10, 32, 8, 64, 4), (8, 16, 32, 64)
_MODES = ("reflect", "edge", "constant", "wrap")


def outer_padding(feeds: Feeds) -> Iterator[tuple[str, Sides, Callable[[Feeds], Feeds]]]:
    """The only image padded in front of the model: what is said of it, its sides, the change."""
    images = [(name, value.shape) for name, value in feeds.items() if value.ndim > 2]
    if len(images) != 1:
        return
    name, shape = images[0]
    sizes = shape[2:]
    places = {
        f"on each side {count}": tuple((count, count) for _ in sizes) for count in _AROUND
    } | {
        f"at the end up to a multiple of {multiple}": tuple((0, -size % multiple) for size in sizes)
        for multiple in reversed(_MULTIPLES)
    }
    for where, sides in places.items():
        widest = max(map(max, sides))
        for mode in _MODES if widest else ():
            if widest < min(sizes) or mode in ("edge", "constant"):
                cells = "zeros" if mode == "constant" else f"cells by mode {mode}"
                said = f"'{name}' padded in front of the model, {where} {cells}"
                change: Change = partial(np.pad, pad_width=[(0, 0)] * 2 + [*sides], mode=mode)
                yield f"{said}, and its outputs cropped", sides, partial(_prepared, name, change)


def cropped(made: Array, shape: Sequence[int], sizes: Sequence[int], sides: Sides) -> Array | None:
    """What an output comes to without the cells that `sides` brought, if it has `shape` then.

    sizes: those of the image before it was padded. None where sizes do not say which cells go.
    """
    if made.ndim != len(shape) or made.ndim != len(sizes) + 2:
        return None
    cut = [slice(None), slice(None)]
    for (begin, end), size, whole, part in zip(
        sides, sizes, made.shape[2:], shape[2:], strict=True
    ):
        padded = size + begin + end
        if whole * size != part * padded or begin * whole % padded:
            return None
        first = begin * whole // padded
        cut.append(slice(first, first + part))
    return made[tuple(cut)]
