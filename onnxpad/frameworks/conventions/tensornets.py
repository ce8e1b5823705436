"""TensorNets: TensorFlow models that pad explicitly, so that they match the original weights.

symmetry=True pads window//2 at both sides, False one less in front; without it the layer is SAME.
Its first pool writes a mirrored edge instead of padding, which gives the same maximum.
"""

from onnxpad.frameworks.choices import HowKnown
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Given, Mode, Pair
from onnxpad.frameworks.rules import SAME_UPPER
from onnxpad.frameworks.words import layers, named, padding
from onnxpad.geometry.windows import Axis

_SOURCE = "taehoonlee/tensornets c9b1d78, utils.py:167-172, resnets.py:66-79"


def _both(axis: Axis, _given: Given) -> Pair:
    return (axis.kernel // 2, axis.kernel // 2)


def _less_in_front(axis: Axis, _given: Given) -> Pair:
    return (max(0, axis.kernel // 2 - 1), axis.kernel // 2)


_WINDOW = (
    *named(weight="kernel_size", stride="stride"),
    padding(
        "symmetry",
        modes={"same": SAME_UPPER, True: Mode(_both), False: Mode(_less_in_front)},
        default="same",
    ),
)
_PLANE = frozenset({2})

_layer = layers(HowKnown.READ, _SOURCE, ranks=_PLANE)
CONVENTION = Convention(
    source=_SOURCE, layers=(_layer("conv", *_WINDOW), _layer("max_pool", *_WINDOW))
)
