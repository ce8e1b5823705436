"""Write LpPool as an average pool of powers.

What: Abs and Pow in front, AveragePool with count_include_pad, Mul by the number of cells of the
window and the root behind. For p=2 the square is Mul and the root Sqrt; for p=1 neither is there.
What ceil_mode reads beyond the end becomes end pads. Half precision is widened to float32, in
which sums of powers do not overflow, and narrowed again.

Exact: the sum over a window is its average times its number of cells, which count_include_pad
makes the same for every window. Float rounding differs by a few units in the last place.

Refuses: dilations before opset 19 (AveragePool has none), opsets before 7 (AveragePool has no
count_include_pad), pads that reach the kernel, a p below 1, sizes that are not known where
runtimes disagree about SAME.

Cost: 2 to 4 more operators over the input and the output, and 2 for half precision.

Example: LpPool p=2 k3 becomes Mul, AveragePool k3 count_include_pad=1, Mul 3, Sqrt.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads, floored, same_is_disputed, short_axis
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import OPERATORS, AttributeValue, Kind, Since
from onnxpad.rewriting.steps.composer import Composer

REMOVES = {Form.LP_POOL}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE}
ADDS = {Form.AVERAGE, Form.COUNTS_PADDING, Form.PADS, Form.ASYMMETRIC}

_FLOAT32 = 1
_HALF = {"float16": 10, "bfloat16": 16}
"""Element types as Cast names them (TensorProto.DataType)."""


def rewrite(chain: Chain) -> PassResult:
    """Average the powers and take the root."""
    if chain.op.kind is not Kind.LP:
        return Skip("no LpPool", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        if chain.trouble or same_is_disputed(chain):
            return pads
        return _refusal(chain) or _averaged(chain, {"auto_pad": str(chain.padding)})
    if refusal := _refusal(chain) or short_axis(chain, pads):
        return refusal
    wider = floored(chain, pads)
    if isinstance(wider, Skip):
        return wider
    return _averaged(chain, {"pads": wider.flat} if any(wider.flat) else {})


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """A Pad node holds any pads."""
    pads = effective_pads(chain)
    yield Skip("", ("--pass split-pads",) * (isinstance(pads, Pads) and any(pads.flat)))


def _refusal(chain: Chain) -> Skip | None:
    if chain.opset < Since.COUNT_INCLUDE_PAD:
        return Skip(f"AveragePool of opset {chain.opset} has no count_include_pad")
    dilated = any(axis.dilation > 1 for axis in chain.axes)
    if dilated and chain.opset < OPERATORS["", "AveragePool"].dilations:
        return Skip(f"AveragePool of opset {chain.opset} has no dilations")
    if not chain.dtype:
        return Skip("the element type of its input is not known")
    power = chain.attribute("p", 2)
    if not isinstance(power, int) or power < 1:
        return Skip(f"its p is {power}, and a root needs a whole number from 1 on")
    return None


def _averaged(chain: Chain, padding: dict[str, AttributeValue]) -> PassResult:
    half = _HALF.get(chain.dtype)
    composer = Composer(chain.opset, "float32" if half else chain.dtype)
    data: Operand = Read(0)
    if half:
        data = composer.add("Cast", data, attributes={"to": _FLOAT32}, role="widened")
    power = int(chain.attribute("p", 2))  # type: ignore[arg-type]
    averaged = composer.add(
        "AveragePool",
        _power(composer, data, power),
        attributes=_attributes(chain) | padding | {"count_include_pad": 1},
    )
    cells = float(prod(axis.kernel for axis in chain.axes))
    sums = composer.add("Mul", averaged, Numbers("cells", composer.dtype, (), (cells,)), role="sum")
    result = _root(composer, sums, power)
    if half:
        result = composer.add("Cast", result, attributes={"to": half}, role="narrowed")
    return composer.finish(result)


def _attributes(chain: Chain) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {
        "kernel_shape": tuple(axis.kernel for axis in chain.axes),
        "strides": tuple(axis.stride for axis in chain.axes),
    }
    if any(axis.dilation > 1 for axis in chain.axes):
        found["dilations"] = tuple(axis.dilation for axis in chain.axes)
    return found


def _power(composer: Composer, data: Operand, power: int) -> Made:
    if power == 2:
        return composer.add("Mul", data, data, role="square")
    size = composer.add("Abs", data)
    if power == 1:
        return size
    exponent = Numbers("power_exponent", composer.dtype, (), (float(power),))
    return composer.add("Pow", size, exponent, role="power")


def _root(composer: Composer, sums: Made, power: int) -> Made:
    if power == 1:
        return sums
    if power == 2:
        return composer.add("Sqrt", sums, role="root")
    exponent = Numbers("root_exponent", composer.dtype, (), (1 / power,))
    return composer.add("Pow", sums, exponent, role="root")
