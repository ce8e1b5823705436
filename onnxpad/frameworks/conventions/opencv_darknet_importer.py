"""OpenCV's importer of Darknet models: a max pool's padding is a total, the odd cell at the end.

Left out, the total is size-1.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Given, HowKnown, Layer, Layout, Mode, Outside, Pair
from onnxpad.frameworks.rules import split
from onnxpad.geometry.windows import Axis

_SOURCE = "OpenCV 4.10.0 dnn measured"


def _total(axis: Axis, given: Given) -> Pair:
    return split(given.pads[0] if given.pads else axis.kernel - 1)


CONVENTION = Convention(
    source=_SOURCE,
    layers=(
        Layer(
            "max_pool",
            (
                attributes.kernel("size"),
                attributes.stride("stride"),
                attributes.padding("padding", Layout.EACH),
            ),
            HowKnown.EXECUTED,
            _SOURCE,
            number=Mode(_total),
            outside=Outside.ZERO,
            ranks=frozenset({2}),
        ),
    ),
)
