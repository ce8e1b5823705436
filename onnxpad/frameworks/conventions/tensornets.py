"""TensorNets: TensorFlow models that pad explicitly, so that they match the original weights.

symmetry=True pads window//2 at both sides, False one less in front; without it the layer is SAME.
Its first pool writes a mirrored edge instead of padding, which gives the same maximum.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Given, HowKnown, Layer, Mode, Pair
from onnxpad.frameworks.rules import SAME_UPPER
from onnxpad.geometry.windows import Axis

_SOURCE = "taehoonlee/tensornets c9b1d78, utils.py:167-172, resnets.py:66-79"


def _both(axis: Axis, _given: Given) -> Pair:
    return (axis.kernel // 2, axis.kernel // 2)


def _less_in_front(axis: Axis, _given: Given) -> Pair:
    return (max(0, axis.kernel // 2 - 1), axis.kernel // 2)


_WINDOW = (
    attributes.kernel("kernel_size", default=None),
    attributes.stride("stride"),
    attributes.padding(
        "symmetry",
        modes={"same": SAME_UPPER, True: Mode(_both), False: Mode(_less_in_front)},
        default="same",
    ),
)
_PLANE = frozenset({2})

CONVENTION = Convention(
    source=_SOURCE,
    layers=(
        Layer("conv", _WINDOW, HowKnown.READ, _SOURCE, ranks=_PLANE),
        Layer("max_pool", _WINDOW, HowKnown.READ, _SOURCE, ranks=_PLANE),
    ),
)
