"""Flax (linen): JAX's SAME and SAME_LOWER, CAUSAL, and the mirrored CIRCULAR and REFLECT.

avg_pool divides by the whole window unless count_include_pad=False, also with SAME.
"""

from __future__ import annotations

from onnxpad.frameworks import attributes
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Divisor, Fill, HowKnown, Layer, Layout, Mode
from onnxpad.frameworks.rules import (
    EXPLICIT,
    SAME_LOWER,
    SAME_UPPER,
    VALID,
    causal,
    window_less_one,
)

_CONV = "Flax 0.12.8 on JAX 0.10.2 measured; flax/linen/linear.py:592-606"
_POOLS = "Flax 0.12.8 on JAX 0.10.2 measured; flax/linen/pooling.py:80-110"
_SAME = {"SAME": SAME_UPPER, "SAME_LOWER": SAME_LOWER, "VALID": VALID}
_POOL = (
    attributes.label("api"),
    attributes.kernel("window_shape"),
    attributes.stride("strides", "stride"),
    attributes.padding("padding", Layout.PAIRS, modes=_SAME, default="VALID"),
)

CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    layers=(
        Layer(
            "conv",
            (
                attributes.label("api"),
                attributes.kernel("kernel_size", default=None),
                attributes.stride("window_strides", "strides", "stride"),
                attributes.padding(
                    "padding",
                    Layout.EACH,
                    Layout.PAIRS,
                    modes=_SAME
                    | {
                        "CAUSAL": Mode(causal),
                        "CIRCULAR": Mode(window_less_one, fill=Fill.WRAP),
                        "REFLECT": Mode(window_less_one, fill=Fill.REFLECT),
                    },
                    default="SAME",
                ),
                attributes.dilation("rhs_dilation", "kernel_dilation"),
                attributes.groups("feature_group_count"),
            ),
            HowKnown.EXECUTED,
            _CONV,
            number=EXPLICIT,
        ),
        Layer("max_pool", _POOL, HowKnown.EXECUTED, _POOLS, number=EXPLICIT),
        Layer(
            "avg_pool",
            (
                *_POOL,
                attributes.divisor(
                    "count_include_pad", {True: Divisor.WHOLE, False: Divisor.REAL}, default=True
                ),
            ),
            HowKnown.EXECUTED,
            _POOLS,
            number=EXPLICIT,
        ),
    ),
)
