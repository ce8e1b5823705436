"""OpenCV's importer of Darknet models: a max pool's padding is a total, the odd cell at the end.

Where it is left out, it is the attribute `size` less one.
"""

from onnxpad.frameworks.choices import HowKnown, Layout, Outside
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Mode
from onnxpad.frameworks.rules import total_or_kernel_less_one
from onnxpad.frameworks.words import layers, named, padding

_SOURCE = "OpenCV 4.10.0 dnn measured"


CONVENTION = Convention(
    source=_SOURCE,
    layers=(
        layers(HowKnown.EXECUTED, _SOURCE)(
            "max_pool",
            *named(kernel="size", stride="stride"),
            padding("padding", Layout.EACH),
            number=Mode(total_or_kernel_less_one),
            outside=Outside.ZERO,
            ranks=frozenset({2}),
        ),
    ),
)
