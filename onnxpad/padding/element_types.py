"""Element types that ONNX has at one operator."""

from __future__ import annotations

from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind

_WITH_WEIGHTS = (Kind.CONVOLUTION, Kind.TRANSPOSED)


def mixed_types(chain: Chain) -> str | None:
    """What is wrong with the types of the data and of the weight; None where they are one type.

    Of quantised operators each has its own, and nothing is said of types that are not known.
    """
    data, weight = chain.dtype, chain.weight.dtype
    if chain.op.kind not in _WITH_WEIGHTS or chain.op.quantised or not (data and weight):
        return None
    if chain.op.domain not in PLAIN_DOMAINS or data == weight:
        return None
    return f"its data is {data} and its weight {weight}, where ONNX has one type for both"
