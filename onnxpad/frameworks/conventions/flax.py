"""Flax (linen): JAX's SAME and SAME_LOWER, CAUSAL, and the mirrored CIRCULAR and REFLECT.

avg_pool divides by the whole window unless count_include_pad=False, also with SAME.
"""

from onnxpad.frameworks.choices import Divisor, Fill, HowKnown, Layout
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Mode
from onnxpad.frameworks.rules import SAME_LOWER, SAME_UPPER, VALID, causal, window_less_one
from onnxpad.frameworks.words import divisor, layers, named, padding

_CONV = "Flax 0.12.8 on JAX 0.10.2 measured; flax/linen/linear.py:592-606"
_POOLS = "Flax 0.12.8 on JAX 0.10.2 measured; flax/linen/pooling.py:80-110"
_SAME = {"SAME": SAME_UPPER, "SAME_LOWER": SAME_LOWER, "VALID": VALID}
_POOL = (
    *named(label="api", kernel="window_shape", stride="strides stride"),
    padding("padding", Layout.PAIRS, modes=_SAME, default="VALID"),
)

_layer = layers(HowKnown.EXECUTED, _POOLS)
CONVENTION = Convention(
    source=f"{_CONV}; {_POOLS}",
    layers=(
        _layer(
            "conv",
            *named(label="api", weight="kernel_size", stride="window_strides strides stride"),
            padding(
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
            *named(dilation="rhs_dilation kernel_dilation", groups="feature_group_count"),
            source=_CONV,
        ),
        _layer("max_pool", *_POOL),
        _layer(
            "avg_pool",
            *_POOL,
            divisor("count_include_pad", {True: Divisor.WHOLE, False: Divisor.REAL}, default=True),
        ),
    ),
)
