"""timm (pytorch-image-models): the layers that imitate TensorFlow's SAME in PyTorch.

Conv2dSame is TensorFlow's SAME; MaxPool2dSame pads for the kernel without its dilation.
AvgPool2dSame pads zeros first, so its divisor is the whole window, whatever count_include_pad
says. padding='' pads ((stride-1)+span-1)//2.
"""

from onnxpad.frameworks.choices import Divisor, HowKnown
from onnxpad.frameworks.conventions import Convention
from onnxpad.frameworks.layer import Given, Mode, Pair
from onnxpad.frameworks.rules import SAME_UPPER, same_upper
from onnxpad.frameworks.words import divisor, layers, named, padding
from onnxpad.geometry.windows import Axis

_SOURCE = "timm 1.0.20 measured; rwightman/pytorch-image-models 899aa94, timm/layers/padding.py"


def _symmetric(axis: Axis, _given: Given) -> Pair:
    pad = (axis.stride - 1 + axis.span - 1) // 2
    return (pad, pad)


def _undilated_same(axis: Axis, given: Given) -> Pair:
    """MaxPool2dSame pads for the kernel without its dilation."""
    return same_upper(axis._replace(dilation=1), given)


_POOL = named(kernel="kernel_size", pool_stride="stride")

_layer = layers(HowKnown.EXECUTED, _SOURCE, ranks=frozenset({2}))
CONVENTION = Convention(
    source=_SOURCE,
    layers=(
        _layer(
            "conv",
            padding(
                "layer",
                modes={
                    "Conv2dSame": SAME_UPPER,
                    "create_conv2d_pad(padding='same')": SAME_UPPER,
                    "create_conv2d_pad(padding='')": Mode(_symmetric),
                },
                default="Conv2dSame",
            ),
            *named(weight="kernel_size", stride="stride", dilation="dilation", groups="groups"),
        ),
        _layer(
            "max_pool",
            padding(
                "layer", modes={"MaxPool2dSame": Mode(_undilated_same)}, default="MaxPool2dSame"
            ),
            *_POOL,
            *named(dilation="dilation"),
        ),
        _layer(
            "avg_pool",
            padding("layer", modes={"AvgPool2dSame": SAME_UPPER}, default="AvgPool2dSame"),
            *_POOL,
            divisor("count_include_pad", {True: Divisor.WHOLE, False: Divisor.WHOLE}, default=True),
            source=f"{_SOURCE}, timm/layers/pool2d_same.py",
        ),
    ),
)
