"""What gives a reference besides padding: inputs prepared otherwise, and other attributes.

Each is tried on the model as it is. What gives every reference within rounding is the cause; what
comes merely nearer says nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.score import judged
from onnxpad.errors import either
from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.other_attributes import nodes_without, with_attribute
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import gap
from onnxpad.validation.bench import Bench

Array = NDArray[Any]
Feeds = Mapping[str, Array]
_MOST_BYTES = 64 * 2**20
_COLOURS = 3
# Mean and deviation of ImageNet in red, green and blue, as torchvision and timm take them off
# (https://docs.pytorch.org/vision/stable/models.html), and the mean that Caffe takes off
# (keras.applications.imagenet_utils.preprocess_input, mode caffe).
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_CAFFE = (103.939, 116.779, 123.68)


@dataclass(frozen=True, slots=True)
class _Attribute:
    """An attribute that exporters and frameworks have otherwise, and what it is there."""

    name: str
    operators: frozenset[str]
    values: tuple[float | str, ...]


_ATTRIBUTES = (
    _Attribute(
        "epsilon",
        frozenset(
            {
                "BatchNormalization",
                "GroupNormalization",
                "InstanceNormalization",
                "LayerNormalization",
                "RMSNormalization",
            }
        ),
        (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8),
    ),
    _Attribute("alpha", frozenset({"LeakyRelu"}), (0.01, 0.1, 0.2, 0.3)),
    _Attribute("alpha", frozenset({"Elu"}), (1.0,)),
    _Attribute("approximate", frozenset({"Gelu"}), ("none", "tanh")),
    _Attribute(
        "coordinate_transformation_mode",
        frozenset({"Resize"}),
        ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"),
    ),
)


def other_cause(
    bench: Bench,
    network: Network,
    samples: Sequence[Feeds],
    expected: Mapping[str, Sequence[Array]],
    deadline: float,
) -> str:
    """What gives every reference, in words behind 'the model gives the reference'; '' for nothing.

    Ends at `deadline`, a value of time.monotonic. Leaves no warnings.
    """
    known = len(bench.warnings)
    for said, make in chain(_other_attributes(network, samples), _prepared(network, samples)):
        if time.monotonic() > deadline:
            break
        bench.progress(said)
        other, feeds = make()
        if _gives(bench, other, feeds, expected):
            return said
    del bench.warnings[known:]
    return ""


def _gives(
    bench: Bench,
    network: Network,
    samples: Sequence[Feeds],
    expected: Mapping[str, Sequence[Array]],
) -> bool:
    """Whether every reference is given within rounding: the first sample is looked at first."""
    known, names = len(bench.warnings), tuple(expected)
    made = bench.run(network, samples[0], names)
    near = not isinstance(made, RunFailure) and all(
        gap(expected[name][0], made[name]).max_abs
        <= _NEAR * float(np.abs(expected[name][0]).max(initial=0.0))
        for name in names
        if made[name].shape == expected[name][0].shape
    )
    found = near and judged(bench, network, samples, expected).agrees
    del bench.warnings[known:]
    return found


_NEAR = 1e-3
_Tried = tuple[str, Callable[[], tuple[Network, Sequence[Feeds]]]]


def _prepared(network: Network, samples: Sequence[Feeds]) -> Iterator[_Tried]:
    """Every input prepared otherwise, in the ways of images."""
    for name, value in samples[0].items():
        if value.dtype.kind != "f" or value.ndim <= _COLOURS:
            continue
        for said, change in _changes(value):

            def make(
                change: Callable[[Array], Array] = change, name: str = name
            ) -> tuple[Network, Sequence[Feeds]]:
                changed = (
                    {**one, name: change(one[name]).astype(one[name].dtype)} for one in samples
                )
                return network, [*changed]

            yield f"where '{name}' {said}", make


def _changes(value: Array) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Ways to prepare images of this shape, and what is said of each."""
    scales: list[tuple[str, Callable[[Array], Array]]] = [
        ("", lambda x: x),
        ("is divided by 255", lambda x: x / 255),
        ("is multiplied by 255", lambda x: x * 255),
        ("is scaled from 0..1 to -1..1", lambda x: 2 * x - 1),
        ("is scaled from 0..255 to -1..1", lambda x: x / 127.5 - 1),
        ("is scaled from -1..1 to 0..1", lambda x: (x + 1) / 2),
    ]
    coloured = value.shape[1] == _COLOURS
    if coloured:
        mean, deviation, caffe = (
            np.array(one, value.dtype).reshape(1, -1, *(1,) * (value.ndim - 2))
            for one in (_MEAN, _DEVIATION, _CAFFE)
        )
        scales += [
            ("has the mean of ImageNet taken off and is divided by its deviation",
             lambda x: (x - mean) / deviation),
            ("is divided by 255, and normalised by the mean and deviation of ImageNet",
             lambda x: (x / 255 - mean) / deviation),
            ("is multiplied by the deviation of ImageNet and has its mean added",
             lambda x: x * deviation + mean),
            ("has the mean of Caffe taken off", lambda x: x - caffe),
        ]  # fmt: skip
    yield from scales[1:]
    if coloured:
        for said, change in scales:
            also = f" and {said}" if said else ""

            def turned(x: Array, change: Callable[[Array], Array] = change) -> Array:
                return change(np.ascontiguousarray(x[:, ::-1]))

            yield f"has its channels in reverse order (RGB and BGR){also}", turned
    if value.ndim == _COLOURS + 1 and value.shape[2] == value.shape[3]:
        yield "has rows and columns swapped", lambda x: np.ascontiguousarray(x.swapaxes(2, 3))


def _other_attributes(network: Network, samples: Sequence[Feeds]) -> Iterator[_Tried]:
    """The model with another attribute in all nodes that have it."""
    if network.model.ByteSize() > _MOST_BYTES:
        return
    for row in _ATTRIBUTES:
        for value in row.values:
            operators, lacking = nodes_without(network, row.operators, row.name, value)
            if not lacking:
                continue

            def make(
                row: _Attribute = row, value: float | str = value
            ) -> tuple[Network, Sequence[Feeds]]:
                return with_attribute(network, row.operators, row.name, value), samples

            yield f"with {row.name} {value} in every {either(operators)}", make
