"""Questions about tensors: ranks, sizes, element types and opsets."""

from __future__ import annotations

from onnxpad.acceptance.rows import Condition
from onnxpad.chain import Chain


def spatial_axes(*counts: int) -> Condition:
    """The operator slides along as many axes as one of `counts`."""
    words = " or ".join(f"{count}-D" for count in counts)
    return Condition(f"the operator is {words}", lambda c: c.rank in counts if c.rank else None)


ONE_D, TWO_D, THREE_D = spatial_axes(1), spatial_axes(2), spatial_axes(3)
NOT_TWO_D = spatial_axes(1, 3).called("the operator is not 2-D")


def tensor_rank(*ranks: int) -> Condition:
    """The input has as many axes as one of `ranks`."""
    words = " or ".join(str(rank) for rank in ranks)
    return Condition(
        f"the input has {words} axes",
        lambda c: None if c.shape is None else len(c.shape) in ranks,
    )


def opset_above(opset: int) -> Condition:
    """The model's opset is newer."""
    return Condition(f"the opset is above {opset}", lambda c: c.opset > opset)


def opset_below(opset: int) -> Condition:
    """The model's opset is older."""
    return Condition(f"the opset is below {opset}", lambda c: c.opset < opset)


def opset_is(*opsets: int) -> Condition:
    """The model's opset is one of `opsets`."""
    words = " or ".join(map(str, opsets))
    return Condition(f"the opset is {words}", lambda c: c.opset in opsets)


def element_type(*names: str) -> Condition:
    """The input has one of these element types, as numpy names them."""
    return Condition(
        f"the element type is {' or '.join(names)}",
        lambda c: c.dtype in names if c.dtype else None,
    )


EIGHT_BIT = element_type("int8", "uint8")
BEHIND_QUANTISED = Condition("a quantised operator stands in front", lambda c: c.behind_quantised)


def _unknown_size(chain: Chain, first: int) -> bool | None:
    if chain.shape is None:
        return True
    return any(not isinstance(size, int) for size in chain.shape[first:])


UNKNOWN_FEATURE_SIZES = Condition(
    "a size other than the batch's is not fixed", lambda c: _unknown_size(c, 1)
)
UNKNOWN_SIZES = Condition("a size is not fixed", lambda c: _unknown_size(c, 1))
UNKNOWN_SPATIAL_SIZES = Condition(
    "a size other than the batch's is not fixed", lambda c: _unknown_size(c, 2)
)
ASSUMED_SIZES = Condition("sizes are assumed", lambda c: c.assumes_sizes)
SIZES_LEFT_OPEN = (UNKNOWN_SIZES | ASSUMED_SIZES).called("the file does not fix a size")
SPATIAL_SIZES_LEFT_OPEN = (UNKNOWN_SPATIAL_SIZES | ASSUMED_SIZES).called(
    "the file does not fix a size other than the batch's"
)
FROM_PYTORCH = Condition(
    "the model names pytorch as its producer", lambda c: c.producer == "pytorch"
)


EQUAL_SIZES = Condition(
    "all sizes but the batch's are fixed and equal",
    lambda c: c.shape is not None and not _unknown_size(c, 1) and len(set(c.shape[1:])) == 1,
)


def _batch(chain: Chain) -> bool | None:
    size = chain.shape[0] if chain.shape else None
    return size != 1 if isinstance(size, int) else None


BATCH_ABOVE_ONE = Condition("the batch is not 1", _batch)
