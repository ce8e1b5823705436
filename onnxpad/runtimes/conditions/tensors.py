"""Questions about tensors: ranks, sizes, element types and opsets."""

from __future__ import annotations

from onnxpad.geometry.size import Symbol
from onnxpad.padding.chain import Chain
from onnxpad.padding.element_types import mixed_types
from onnxpad.runtimes.conditions.rows import Condition, OpenBatch


def spatial_axes(*counts: int) -> Condition:
    """The operator slides along as many axes as one of `counts`."""
    words = " or ".join(f"{count}-D" for count in counts)
    return Condition(f"the operator is {words}", lambda c: c.rank in counts if c.rank else None)


ONE_D, TWO_D, THREE_D = spatial_axes(1), spatial_axes(2), spatial_axes(3)
NOT_TWO_D = spatial_axes(1, 3).called("the operator is not 2-D")


def tensor_rank(*ranks: int) -> Condition:
    """The input has as many axes as one of `ranks`."""
    numbers = [str(rank) for rank in ranks]
    several = f"does not have {' or '.join(numbers)} axes"
    return Condition(
        f"the input has {' or '.join(numbers)} axes",
        lambda c: None if c.shape is None else len(c.shape) in ranks,
        f"the input {several if len(ranks) > 1 else f'does not have {numbers[0]} axes'}",
    )


def opset_above(opset: int) -> Condition:
    """The model's opset is newer."""
    return Condition(
        f"the opset is above {opset}",
        lambda c: c.opset > opset,
        f"the opset is {opset} or older",
        f"export the model with opset {opset} or older",
        lasting=True,
        of_opset=True,
    )


def opset_below(opset: int) -> Condition:
    """The model's opset is older."""
    return Condition(
        f"the opset is below {opset}",
        lambda c: c.opset < opset,
        f"the opset is {opset} or newer",
        f"export the model with opset {opset} or newer",
        lasting=True,
        of_opset=True,
    )


def opset_is(*opsets: int) -> Condition:
    """The model's opset is one of `opsets`."""
    words = " or ".join(map(str, opsets))
    return Condition(
        f"the opset is {words}", lambda c: c.opset in opsets, lasting=True, of_opset=True
    )


def element_type(*names: str) -> Condition:
    """The input has one of these element types, as numpy names them."""
    words = " or ".join(names)
    return Condition(
        f"the element type is {words}",
        lambda c: c.dtype in names if c.dtype else None,
        f"the element type is not {words}",
        lasting=True,
    )


EIGHT_BIT = element_type("int8", "uint8")
TWO_TYPES = Condition(
    "the data has another element type than the weight, where ONNX has one type for both",
    lambda c: mixed_types(c) is not None,
    "the data and the weight have one element type",
    "store the weight in the element type of the data, or export the model again",
    lasting=True,
    tells=mixed_types,
)
ONE_TYPE_ALONE = "no model that ONNX takes for valid has two types there"
BEHIND_QUANTISED = Condition(
    "a quantised operator stands in front",
    lambda c: c.around.behind_quantised,
    "no quantised operator stands in front",
)
_FIX = "give the model's inputs fixed sizes"


def unknown_size(chain: Chain, first: int) -> bool | None:
    """Whether a size from axis `first` on is not known."""
    if chain.shape is None:
        return True
    return any(not isinstance(size, int) for size in chain.shape[first:])


def left_open(first: int, text: str, cure: str = _FIX) -> Condition:
    """Sizes from axis `first` on that the file leaves open, be they known to the user or not."""
    return Condition(
        text,
        lambda c: True if c.read_as.assumes_sizes else unknown_size(c, first),
        cure=cure,
        lasting=True,
        of_sizes=True,
    )


UNKNOWN_SPATIAL_SIZES = left_open(
    2, "a size other than the batch is open, or known from --dim only"
)
SIZES_LEFT_OPEN = left_open(1, "the file leaves a size open")
SPATIAL_SIZES_LEFT_OPEN = UNKNOWN_SPATIAL_SIZES.called(
    "the file leaves a size other than the batch open",
    "the file leaves no size but the batch open",
)


def _batch(chain: Chain) -> bool | None:
    size = chain.shape[0] if chain.shape else None
    return size != 1 if isinstance(size, int) else None


def _open_batch(chain: Chain) -> OpenBatch:
    size = chain.shape[0] if chain.shape else None
    return OpenBatch(size.root if isinstance(size, Symbol) and size.name == size.root else "")


BATCH_ABOVE_ONE = Condition(
    "the batch is not 1",
    _batch,
    cure="export the model with a batch of 1, and run it once for each sample",
    asks=_open_batch,
    lasting=True,
)
