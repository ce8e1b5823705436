"""The vocabulary of layers: what an attribute means, and what it can choose."""

from enum import StrEnum


class HowKnown(StrEnum):
    """How a rule is known."""

    EXECUTED = "executed"
    READ = "read"
    REMEMBERED = "remembered"


class Rounding(StrEnum):
    """How many windows a layer has where they do not end at the border."""

    DOWN = "down"
    UP = "up, but no window starts in the end padding"
    UP_ALL = "up"
    UP_FROM_ONE = "up, at least one, and no window starts in the end padding"
    UP_IF_ANY_PADDED = "up, and once any axis is padded no window starts in the end padding"
    UP_IF_AXIS_PADDED = "up, and on padded axes no window starts in the end padding"
    EXACT = "windows must end at the border"


class Divisor(StrEnum):
    """What an average divides by."""

    REAL = "cells of the input"
    PADDED = "cells of the input and of the padding"
    WHOLE = "the whole window"
    BEGIN_PADDED = "cells of the input and of the padding, at the end as many as at the begin"


class Override(StrEnum):
    """What a given divisor does."""

    SUM = "divides the sum"
    RESCALE = "rescales the average by window/divisor"


class Outside(StrEnum):
    """What a window without any cell of the input gives."""

    LOWEST = "the lowest finite float32"
    MINUS_INFINITY = "-inf"
    ZERO = "0"
    QUOTIENT = "NaN where the window ends at the border, else 0"
    UNKNOWN = "unknown"


class Fill(StrEnum):
    """What padded cells of a convolution hold, by ONNX's Pad modes."""

    ZEROS = "constant"
    REFLECT = "reflect"
    EDGE = "edge"
    WRAP = "wrap"


class Role(StrEnum):
    """What an attribute means."""

    KERNEL = "kernel"
    STRIDE = "stride"
    DILATION = "dilation"
    PADDING = "padding"
    FILL = "fill"
    GROUPS = "groups"
    ROUNDING = "rounding"
    DIVISOR = "divisor"
    OVERRIDE = "override"
    GROWTH = "output padding"
    EXTENT = "output size"
    LABEL = "label"


class Layout(StrEnum):
    """The order of the numbers in a padding attribute."""

    EACH = "one number, or one for each axis, for both sides"
    BEGINS_ENDS = "all begins, then all ends"
    INTERLEAVED = "begin and end of each axis in turn"
    PAIRS = "a (begin, end) pair for each axis"
    PAIRS_CHANNELS_LAST = "(begin, end) pairs of batch, axes, channels"
    PAIRS_CHANNELS_FIRST = "(begin, end) pairs of batch, channels, axes"
    FLAGS = "true or false for each axis, channels in front of them or left out"


class Special(StrEnum):
    """Defaults that are not plain values."""

    REQUIRED = "required"
    KERNEL = "the kernel"
