"""What gives a reference where nodes pad right: prepared inputs, attributes, outer padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np

from onnxpad.diagnosis.runner import Array, Feeds
from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import Sides, lacks, padded_outside, with_attribute
from onnxpad.padding.operators import Since

Change: TypeAlias = Callable[[Array], Array]
_MOST_BYTES = 64 * 2**20
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
_ATTRIBUTES: tuple[tuple[str, str, tuple[float | str, ...]], ...] = (
    ("epsilon", "BatchNormalization", (1e-3, 1e-4, 1e-5, 1e-6)),
    ("epsilon", "InstanceNormalization", (1e-3, 1e-5, 1e-6)),
    ("epsilon", "LayerNormalization", (1e-3, 1e-5, 1e-6, 1e-12)),
    ("alpha", "LeakyRelu", (0.01, 0.1, 0.2, 0.3)),
    ("approximate", "Gelu", ("none", "tanh")),
)


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
    coloured = value.shape[1] == _COLOURS
    scales = (_COLOUR_SCALES if coloured else {}) | _SCALES
    if coloured:
        turned = "has its channels in reverse order (RGB and BGR)"
        yield turned, _reversed
        for said, change in scales.items():
            yield f"{turned} and {said}", partial(_after_reversal, change)
    yield from scales.items()
    if value.shape[2] == value.shape[3]:
        yield "has rows and columns swapped", lambda x: x.swapaxes(2, 3)


def _reversed(x: Array) -> Array:
    return x[:, ::-1]


def _after_reversal(change: Change, x: Array) -> Array:
    return change(x[:, ::-1])


def other_attributes(network: Network) -> Iterator[tuple[str, Callable[[], Network]]]:
    """The model with another attribute in all nodes that have it, and what is said of that."""
    for name, operator, values in _ATTRIBUTES if network.model.ByteSize() <= _MOST_BYTES else ():
        for value in values:
            if lacks(network, operator, name, value):
                said = f"{name} {value} in every {operator}"
                yield said, partial(with_attribute, network, operator, name, value)


# Applications pad an image on all sides before they cut it into tiles, or behind it to a multiple.
_AROUND, _MULTIPLES = (16, 10, 32, 8, 64, 4), (8, 16, 32, 64)
_MODES = ("reflect", "edge", "constant", "wrap")


def outer_padding(
    network: Network, feeds: Feeds, shapes: Mapping[str, Sequence[int]]
) -> Iterator[tuple[str, Callable[[], Network]]]:
    """The model with padding that is applied outside of it, and what is said of that.

    `shapes` are those of all outputs for the first sample. Each has to have the axes of the only
    input that is an image, and sizes that are multiples or parts of its sizes.
    """
    images = [(name, value.shape) for name, value in feeds.items() if value.ndim > 2]
    if len(images) != 1 or network.model.ByteSize() > _MOST_BYTES:
        return
    name, sizes = images[0]
    wraps = network.opsets.get("", 1) >= Since.PAD_WRAP
    for where, pairs in _outer_cells(sizes[2:]):
        sides = [(0, 0), (0, 0), *pairs]
        crops = {output: _cropped(sides, sizes, shape) for output, shape in shapes.items()}
        if not all(crops.values()):
            continue
        for mode in _MODES[: len(_MODES) - (not wraps)]:
            widest = max(max(pair) for pair in pairs)
            if widest < min(sizes[2:]) or mode in ("edge", "constant"):
                cells = "zeros" if mode == "constant" else f"cells by mode {mode}"
                said = f"'{name}' padded in front of the model, {where} {cells}, and its outputs "
                yield f"{said}cropped", partial(padded_outside, network, name, sides, mode, crops)


def _outer_cells(sizes: Sequence[int]) -> Iterator[tuple[str, Sides]]:
    for count in _AROUND:
        yield f"on each side {count}", [(count, count) for _ in sizes]
    known = list[Sides]()
    for multiple in _MULTIPLES:
        sides = [(0, -size % multiple) for size in sizes]
        if any(map(any, sides)) and sides not in known:
            known.append(sides)
            yield f"at the end up to a multiple of {multiple}", sides


def _cropped(sides: Sides, sizes: Sequence[int], shape: Sequence[int]) -> Sides:
    """What an output loses where its input gets `sides`; () where sizes do not say."""
    if len(shape) != len(sizes):
        return ()
    cells = []
    for (begin, end), size, made in zip(sides[2:], sizes[2:], shape[2:], strict=True):
        scale = Fraction(made, size)
        pair = begin * scale, end * scale
        is_whole = all(cells.denominator == 1 for cells in pair)
        if 1 not in (scale.numerator, scale.denominator) or not is_whole:
            return ()
        cells.append((int(pair[0]), int(pair[1])))
    return [(0, 0), (0, 0), *cells]
