"""Write the value of a Pad as a scalar, or not at all where it is 0.

What: constant_value goes where it is 0, which it means anyway, and where its name is empty and
nothing stands behind it; a value that is a list of one number becomes a number. Some runtimes
refuse a value, a list, an empty name, or an infinity. In front of max pools zero-value writes 0 for
a value below 0 where no cell of the data is below 0, as behind a Relu, and finite-value the lowest
finite number for -inf. quantised-pad pads the quantised tensor where a Pad of floats stands between
a DequantizeLinear and a QuantizeLinear of the same numbers, which runtimes leave out then.

Exact: always; zero-value up to the sign of 0; finite-value where no window holds -inf and padding
alone, which then give the lowest finite number.

Refuses: pads and values that are not known, NaN and texts among them; values of element types that
are not known. -0.0 stays, it is another number than 0. In front of max pools: Pads that something
else reads, or a pool with windows that lie in the padding; zero-value before opset 11, finite-value
of float64 before that. quantised-pad: conversions with a scale for each channel or block, or one
that is no constant float32, Pads that something else reads, other types than int8 and uint8.

Cost: none.

Example: Pad with the inputs data, pads and [0] becomes Pad with the inputs data and pads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from onnxpad.padding.chain import Chain, PadStep, PassResult
from onnxpad.padding.expansion import Named, Numbers, Operand
from onnxpad.padding.fills import Constant, lowest
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind, PadInput, Since
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_node, require_max_pools
from onnxpad.rewriting.steps.refusals import Refused, refuse, require, require_type

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Take the value away, or its axis."""
    step, given = chain.pad, chain.inputs[PadInput.VALUE :]
    is_given = given[:1] == (True,) or given == (False,)
    if chain.op.kind is not Kind.PAD or step is None or not is_given:
        refuse("no Pad node with a value", moot=True)
    if given == (False,):
        return _with_value(chain, None)
    if step.unclear:
        raise Refused(step.unclear.as_skip())
    require(step.mode == "constant", "it writes no value", moot=True)
    if not isinstance(step.fill, Constant):
        refuse("its value is no number that is known")
    if step.fill.value == 0 and math.copysign(1, step.fill.value) > 0:
        return _with_value(chain, None)
    is_listed = PadInput.VALUE in step.listed
    require(is_listed, "its value is a number other than 0", moot=True)
    require_type(chain)
    return _with_value(chain, Numbers("value", chain.dtype, (), (step.fill.value,)))


def _zero(chain: Chain) -> Sequence[PassResult]:
    """No value below 0 where no cell of the data is, either."""
    fill = _other_value(chain).fill
    if not isinstance(fill, Constant) or not fill.value < 0:
        refuse("its value is not known to be below 0")
    require_max_pools(chain)
    least = chain.around.at_least
    require(least is not None and least >= 0, "its data may be below 0")
    require(chain.opset >= Since.PAD_INPUTS, "before opset 11 its value is an attribute")
    return [_with_value(chain, None)]


def _finite(chain: Chain) -> Sequence[PassResult]:
    """The lowest finite number in the place of -inf."""
    is_infinite = _other_value(chain).fill == Constant(-math.inf)
    require(is_infinite, "it does not write -inf", moot=True)
    require_max_pools(chain)
    finite = lowest(chain.dtype)
    require(finite, "the element type of its input is not known")
    number = float(finite[-1])
    if chain.opset >= Since.PAD_INPUTS:
        return [_with_value(chain, Numbers("value", chain.dtype, (), (number,)))]
    if chain.dtype == "float64":
        refuse("before opset 11 the value is a float32, and the lowest float64 is none")
    composer = Composer(chain.opset, chain.dtype)
    return [composer.finish(composer.itself(sets={"value": number}))]


def _other_value(chain: Chain) -> PadStep:
    step = pad_node(chain)
    is_other = step.mode == "constant" and step.fill != Constant(0)
    require(is_other, "it does not write a value other than 0", moot=True)
    return step


def _with_value(chain: Chain, value: Operand | None) -> PassResult:
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(composer.itself({PadInput.VALUE: value}))


def _quantised(chain: Chain) -> PassResult:
    """Read what DequantizeLinear reads."""
    step, between = pad_node(chain), chain.around.between
    if between is None:
        refuse("it does not stand between conversions that take each other back", moot=True)
    first = between.dequantise
    value: Operand | None = None
    if step.mode == "constant" and between.fill != 0:
        value = Numbers("value", first.dtype, (), (between.fill,))
    changed: dict[int, Operand | None] = {0: Named(first.source)}
    if value is not None or len(chain.inputs) > PadInput.VALUE:
        changed[PadInput.VALUE] = value
    composer = Composer(chain.opset, chain.dtype)
    padded = composer.itself(changed)
    numbers = [Named(name) for name in (first.scale, first.zero_point) if name]
    sets = dict(first.attributes)
    return composer.finish(
        composer.add("DequantizeLinear", padded, *numbers, attributes=sets, domain=first.domain)
    )


WAYS = {
    "zero-value": Way.of(
        "Write the value of a Pad in front of max pools as 0 where no cell of its data is below 0.",
        _zero,
        {Form.PAD_VALUE},
    ),
    "finite-value": Way.of(
        "Write the -inf of a Pad that only max pools read as the lowest finite number.", _finite
    ),
    "quantised-pad": Way(
        "Pad the quantised tensor where a Pad of floats stands between equal conversions.",
        _quantised,
    ),
}
