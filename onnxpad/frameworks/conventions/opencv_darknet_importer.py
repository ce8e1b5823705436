"""OpenCV's importer of Darknet models: a max pool's padding is a total, the odd cell at the end.

Where it is left out, it is the attribute `size` less one.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import HowKnown, Layer, Layout, Mode, Outside
from onnxpad.frameworks.rules import total_or_kernel_less_one

_SOURCE = "OpenCV 4.10.0 dnn measured"


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
            number=Mode(total_or_kernel_less_one),
            outside=Outside.ZERO,
            ranks=frozenset({2}),
        ),
    ),
)
