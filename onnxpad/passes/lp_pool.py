"""Write LpPool as an average pool of powers.

What: Abs and Pow in front, AveragePool with count_include_pad, Mul by the number of cells of the
window and the root behind. For p=2 the square is Mul and the root Sqrt; for p=1 neither is there.

Exact: the sum over a window is its average times its number of cells, which count_include_pad
makes the same for every window. Float rounding differs by a few units in the last place.

Refuses: ceil_mode where the last window may hang over (its average divides by fewer cells; write
floor-pool before it), dilations before opset 19 (AveragePool has none), opsets before 7
(AveragePool has no count_include_pad), pads that reach the kernel, sizes that are not known where
runtimes disagree about SAME.

Cost: 2 to 4 more operators over the input and the output.

Example: LpPool p=2 k3 becomes Mul, AveragePool k3 count_include_pad=1, Mul 3, Sqrt.
"""

from __future__ import annotations

from math import prod

from onnxpad.chain import AutoPad, Chain, Skip, Verdict
from onnxpad.composing import Composer
from onnxpad.effective import effective_pads, same_is_disputed, short_axis
from onnxpad.expansion import AttributeValue, Made, Numbers, Read
from onnxpad.forms import Form, reaches_kernel
from onnxpad.ops import Kind

REMOVES = {Form.LP_POOL}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE}
ADDS = {Form.AVERAGE, Form.COUNTS_PADDING, Form.PADS, Form.ASYMMETRIC}

_AVERAGE_HAS_DILATIONS = 19
_COUNT_INCLUDE_PAD_SINCE = 7


def rewrite(chain: Chain) -> Verdict:
    """Average the powers and take the root."""
    if chain.op.kind is not Kind.LP:
        return Skip("no LpPool", moot=True)
    pads = effective_pads(chain)
    same = chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
    if isinstance(pads, Skip):
        if chain.trouble or same_is_disputed(chain):
            return pads
        return _refusal(chain) or _averaged(chain, {"auto_pad": str(chain.padding)})
    if refusal := _refusal(chain) or short_axis(chain, pads):
        return refusal
    if reaches_kernel(chain, pads):
        return Skip(
            f"the pads {list(pads.flat)} reach the kernel, which onnxruntime refuses in a pool",
            ("--pass split-pads",),
        )
    if chain.ceil_mode and not same:
        return Skip("ceil_mode is set: the last window may lack cells", ("--pass floor-pool",))
    return _averaged(chain, {"pads": pads.flat} if any(pads.flat) else {})


def _refusal(chain: Chain) -> Skip | None:
    if chain.opset < _COUNT_INCLUDE_PAD_SINCE:
        return Skip(f"AveragePool of opset {chain.opset} has no count_include_pad")
    dilated = any(axis.dilation > 1 for axis in chain.axes)
    if dilated and chain.opset < _AVERAGE_HAS_DILATIONS:
        return Skip(f"AveragePool of opset {chain.opset} has no dilations")
    if not chain.dtype:
        return Skip("the element type of its input is not known")
    return None


def _averaged(chain: Chain, padding: dict[str, AttributeValue]) -> Verdict:
    composer = Composer(chain.opset, chain.dtype)
    power = int(chain.attribute("p", 2))  # type: ignore[arg-type]
    averaged = composer.add(
        "AveragePool",
        _power(composer, power),
        attributes=_attributes(chain) | padding | {"count_include_pad": 1},
    )
    cells = float(prod(axis.kernel for axis in chain.axes))
    sums = composer.add("Mul", averaged, Numbers("cells", chain.dtype, (), (cells,)), role="sum")
    return composer.finish(_root(composer, sums, power))


def _attributes(chain: Chain) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {
        "kernel_shape": tuple(axis.kernel for axis in chain.axes),
        "strides": tuple(axis.stride for axis in chain.axes),
    }
    if any(axis.dilation > 1 for axis in chain.axes):
        found["dilations"] = tuple(axis.dilation for axis in chain.axes)
    return found


def _power(composer: Composer, power: int) -> Made:
    if power == 2:
        return composer.add("Mul", Read(0), Read(0), role="square")
    size = composer.add("Abs", Read(0))
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
