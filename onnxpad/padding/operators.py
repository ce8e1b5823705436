"""The padded operators of ONNX and com.microsoft: one row each."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, NamedTuple, TypeAlias

PLAIN_DOMAINS = frozenset({"", "ai.onnx"})
MICROSOFT = "com.microsoft"
OPTIMISED_DOMAINS = ("com.microsoft.nchwc", "com.ms.internal.nhwc")

AttributeValue: TypeAlias = int | float | str | tuple[int, ...]
Attributes: TypeAlias = tuple[tuple[str, AttributeValue], ...]


class Since:
    """The opset since which operators of ONNX have what a rewrite needs (Changelog.md).

    `Operator` holds ceil_mode and dilations of each padded operator.
    """

    NAMED_PADS: Final = 2
    """Pad calls its attribute pads, no more paddings."""
    BROADCASTING: Final = 7
    """Add, Mul and the other binary operators broadcast as numpy does."""
    COUNT_INCLUDE_PAD: Final = 7
    STORAGE_ORDER: Final = 8
    """MaxPool says in which order its Indices count."""
    EXPAND: Final = 8
    CONSTANT_INTEGERS: Final = 9
    """Constant holds whole numbers."""
    SLICE_INPUTS: Final = 10
    """Slice reads starts, ends, axes and steps as inputs, and has no steps before."""
    PAD_INPUTS: Final = 11
    """Pad reads pads and value as inputs."""
    PAD_INTEGERS: Final = 11
    """Pad takes whole numbers."""
    PAD_ANY_TYPE: Final = 13
    """Pad takes bool and string."""
    CLIP_INPUTS: Final = 11
    """Clip reads its limits as inputs."""
    CROP_AS_PADS_SPLIT: Final = 11
    """ConvTranspose puts the odd cell of a crop where SAME puts the odd cell of padding."""
    MAX_INTEGERS: Final = 12
    """Max takes whole numbers."""
    AXES_INPUT: Final = 13
    """Squeeze and Unsqueeze read their axes as an input."""
    SOFTMAX_OF_AXIS: Final = 13
    """Softmax is over one axis, and flattens no others."""
    SHAPE_START: Final = 15
    """Shape gives some of the sizes, from start to end."""
    PAD_AXES: Final = 18
    """Pad reads as input 3 the axes that it pads."""
    PAD_WRAP: Final = 19
    """Pad has the mode wrap."""
    WINDOWS_START_IN_DATA: Final = 22
    """Shape inference drops the last window of ceil_mode that starts in the end padding."""


class PadInput(IntEnum):
    """Where a Pad that has inputs reads them."""

    PADS = 1
    VALUE = 2
    AXES = 3


FREE_INITIALIZERS = 4
"""The version of the file format since which an initializer need not be an input as well."""
CONV_BIAS = 2
"""Where Conv and ConvTranspose read their bias."""


class Kind(StrEnum):
    """What an operator computes over its windows."""

    CONVOLUTION = "convolution"
    TRANSPOSED = "transposed convolution"
    MAX = "max pool"
    AVERAGE = "average pool"
    LP = "lp pool"
    PAD = "pad"
    OTHER = "other"


class Operator(NamedTuple):
    """Facts about one padded operator that do not depend on a model.

    Positions are input indices. `ceil_mode` and `dilations` name the opset that brought the
    attribute (0: never). `why_left_alone` is set where no rewrite may touch the padding.
    """

    name: str
    kind: Kind
    source: str
    domain: str = ""
    weight: int | None = None
    zero_point: int | None = None
    quantised: bool = False
    auto_pad: bool = True
    dilations: int = 1
    ceil_mode: int = 0
    why_left_alone: str = ""

    @property
    def weight_zero_point(self) -> int | None:
        """Input that holds the zero point of the weight: the second behind the weight."""
        return self.weight + 2 if self.quantised and self.weight is not None else None

    @property
    def is_pool(self) -> bool:
        """Whether it is a max, average or Lp pool over windows."""
        return self.kind in (Kind.MAX, Kind.AVERAGE, Kind.LP)

    @property
    def has_windows(self) -> bool:
        """Whether it reads windows of its data: a convolution or a pool, and no Pad."""
        return self.kind not in (Kind.PAD, Kind.OTHER)

    @property
    def title(self) -> str:
        """Name with its domain, as it is written in tables."""
        return f"{self.domain}.{self.name}" if self.domain else self.name


_SPEC = "ONNX Operators.md, {}"
_CONTRIB = "onnxruntime docs/ContribOperators.md, com.microsoft.{}"


def _onnx(name: str, kind: Kind, **facts: object) -> Operator:
    return Operator(name, kind, _SPEC.format(name), **facts)  # type: ignore[arg-type]


def _microsoft(name: str, kind: Kind, **facts: object) -> Operator:
    return Operator(name, kind, _CONTRIB.format(name), domain=MICROSOFT, **facts)  # type: ignore[arg-type]


OPTIMISED = "only onnxruntime writes it, into models that it has optimised: use the original"
_CAUSAL = "its padding is implicit: the left context comes from the state input"

_ROWS = (
    _onnx("Conv", Kind.CONVOLUTION, weight=1),
    _onnx("ConvInteger", Kind.CONVOLUTION, weight=1, zero_point=2, quantised=True),
    _onnx("QLinearConv", Kind.CONVOLUTION, weight=3, zero_point=2, quantised=True),
    _onnx("ConvTranspose", Kind.TRANSPOSED, weight=1),
    _onnx("DeformConv", Kind.CONVOLUTION, weight=1, auto_pad=False),
    _onnx("MaxPool", Kind.MAX, ceil_mode=10, dilations=10),
    _onnx("AveragePool", Kind.AVERAGE, ceil_mode=10, dilations=19),
    _onnx("LpPool", Kind.LP, ceil_mode=18, dilations=18),
    _onnx(
        "MaxUnpool",
        Kind.OTHER,
        auto_pad=False,
        dilations=0,
        why_left_alone="its pads only change the inferred output size, the indices stay flat",
    ),
    _onnx(
        "Col2Im", Kind.OTHER, auto_pad=False, why_left_alone="its pads crop the image that it folds"
    ),
    _onnx("Pad", Kind.PAD, auto_pad=False),
    _onnx(
        "CenterCropPad",
        Kind.OTHER,
        auto_pad=False,
        why_left_alone="it pads or crops to a shape that is an input",
    ),
    _onnx(
        "GridSample",
        Kind.OTHER,
        auto_pad=False,
        dilations=0,
        why_left_alone="padding_mode says what points of the grid outside read, no cells are added",
    ),
    _onnx("CausalConvWithState", Kind.OTHER, auto_pad=False, why_left_alone=_CAUSAL),
    _microsoft("FusedConv", Kind.OTHER, why_left_alone=OPTIMISED),
    _microsoft("NhwcFusedConv", Kind.OTHER, why_left_alone=OPTIMISED),
    _microsoft("NhwcConv", Kind.OTHER, why_left_alone=OPTIMISED),
    _microsoft(
        "QLinearConv",
        Kind.CONVOLUTION,
        weight=3,
        zero_point=2,
        quantised=True,
    ),
    _microsoft("NhwcMaxPool", Kind.OTHER, why_left_alone=OPTIMISED),
    _microsoft(
        "QLinearAveragePool",
        Kind.AVERAGE,
        zero_point=2,
        quantised=True,
        ceil_mode=1,
        dilations=0,
    ),
    _microsoft("MaxpoolWithMask", Kind.OTHER, why_left_alone="it reads a mask of its own padding"),
    _microsoft("ConvTransposeWithDynamicPads", Kind.OTHER, why_left_alone="its pads are an input"),
    _microsoft("Pad", Kind.PAD, auto_pad=False),
    _microsoft("CausalConvWithState", Kind.OTHER, auto_pad=False, why_left_alone=_CAUSAL),
    _microsoft("VarlenCausalConvWithState", Kind.OTHER, auto_pad=False, why_left_alone=_CAUSAL),
)

OPERATORS = {(row.domain, row.name): row for row in _ROWS}


def plain_domain(domain: str) -> str:
    """The domain, '' for `ai.onnx`, which is the same."""
    return "" if domain in PLAIN_DOMAINS else domain


def operator(domain: str, name: str) -> Operator | None:
    """The row of an operator, or None where it has no padding; `ai.onnx` is the empty domain.

    Operators of onnxruntime's internal layouts are left alone as a whole.
    """
    optimised = domain in OPTIMISED_DOMAINS
    row = OPERATORS.get(("" if optimised else plain_domain(domain), name))
    if row is not None and optimised:
        return Operator(name, Kind.OTHER, row.source, domain, why_left_alone=OPTIMISED)
    return row


def pads_are_attributes(domain: str, opset: int) -> bool:
    """Whether a Pad has its pads and its value as attributes; com.microsoft.Pad has inputs."""
    return domain in PLAIN_DOMAINS and opset < Since.PAD_INPUTS


def name_of_pads(opset: int) -> str:
    """What a Pad calls the attribute with its pads."""
    return "pads" if opset >= Since.NAMED_PADS else "paddings"
