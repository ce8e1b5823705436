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

from math import prod

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads, floored, same_is_disputed, short_axis
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import OPERATORS, AttributeValue, Kind, Since
from onnxpad.rewriting.steps.composer import Composer, window_attributes
from onnxpad.rewriting.steps.refusals import known, refuse, require, require_type

REMOVES = {Form.LP_POOL}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE}
ADDS = {Form.AVERAGE, Form.COUNTS_PADDING, Form.PADS, Form.ASYMMETRIC}

_FLOAT32 = 1
_HALF = {"float16": 10, "bfloat16": 16}
"""Element types as Cast names them (TensorProto.DataType)."""


def rewrite(chain: Chain) -> PassResult:
    """Average the powers and take the root."""
    require(chain.op.kind is Kind.LP, "no LpPool", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        if chain.trouble or same_is_disputed(chain):
            return pads
        return _averaged(chain, _power(chain), {"auto_pad": str(chain.padding)})
    power = _power(chain)
    known(short_axis(chain, pads))
    wider = known(floored(chain, pads))
    return _averaged(chain, power, {"pads": wider.flat} if any(wider.flat) else {})


def _power(chain: Chain) -> int:
    """The p, where an average can take its place."""
    opset = chain.opset
    reason = f"AveragePool of opset {opset} has no count_include_pad"
    require(opset >= Since.COUNT_INCLUDE_PAD, reason)
    dilated = any(axis.dilation > 1 for axis in chain.axes)
    if dilated and opset < OPERATORS["", "AveragePool"].dilations:
        refuse(f"AveragePool of opset {opset} has no dilations")
    require_type(chain)
    power = chain.attribute("p", 2)
    if not isinstance(power, int) or power < 1:
        refuse(f"its p is {power}, and a root needs a whole number from 1 on")
    return power


def _averaged(chain: Chain, power: int, padding: dict[str, AttributeValue]) -> PassResult:
    half = _HALF.get(chain.dtype)
    composer = Composer(chain.opset, "float32" if half else chain.dtype)
    data: Operand = Read(0)
    if half:
        data = composer.add("Cast", data, attributes={"to": _FLOAT32}, role="widened")
    if power == 2:
        data = composer.add("Mul", data, data, role="square")
    else:
        data = composer.add("Abs", data)
        if power > 1:
            data = _to_the(composer, data, "power", float(power))
    attributes = window_attributes(chain.axes) | padding | {"count_include_pad": 1}
    averaged = composer.add("AveragePool", data, attributes=attributes)
    cells = Numbers("cells", composer.dtype, (), (float(prod(a.kernel for a in chain.axes)),))
    result = composer.add("Mul", averaged, cells, role="sum")
    if power == 2:
        result = composer.add("Sqrt", result, role="root")
    elif power > 1:
        result = _to_the(composer, result, "root", 1 / power)
    if half:
        result = composer.add("Cast", result, attributes={"to": half}, role="narrowed")
    return composer.finish(result)


def _to_the(composer: Composer, data: Operand, role: str, exponent: float) -> Made:
    number = Numbers(f"{role}_exponent", composer.dtype, (), (exponent,))
    return composer.add("Pow", data, number, role=role)
