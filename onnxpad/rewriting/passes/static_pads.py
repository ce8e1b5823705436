"""Write pads that the model computes as constants, where they are known.

What: the arithmetic of exporters is evaluated, pads, value and axes of the Pad become constants
over all axes, and what computed them goes. A fact such as --dim 'H%32=0' is enough where the pads
are the same for all such sizes. all-axes does this for pads that are listed for some axes.
plain-value takes the value of a Pad away where it is 0, which it means anyway, and makes a number
of a list of one. quantised-pad pads the quantised tensor where a Pad of floats stands between a
DequantizeLinear and a QuantizeLinear of the same numbers, which runtimes leave out then.

Exact: always, for the sizes that the model and `--dim` state.

Refuses: pads that hang on sizes that are not known, an initializer that an input of the model can
replace; values that are not known, NaN and texts among them. quantised-pad: conversions with
several scales, or one that is no constant float32, Pads that something else reads.

Cost: none; fewer nodes.

Example: Pad whose pads are Concat of [0,0,1] and [0,0,1] becomes Pad with [0,0,1, 0,0,1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from onnxpad.padding.chain import Chain, PadStep, PassResult
from onnxpad.padding.expansion import Named, Numbers, Operand
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind, PadInput
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_itself, pad_node
from onnxpad.rewriting.steps.refusals import Refused, refuse, require, require_type

REMOVES = {Form.DYNAMIC}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Write known numbers in place of what computes them."""
    step = pad_node(chain)
    require(step.computed, "its pads are constant", moot=True)
    writes = PadInput.VALUE in step.computed
    if writes:
        require_type(chain)
    return _numbers(chain, step, value=writes)


def _all_axes(chain: Chain) -> Sequence[PassResult]:
    lists_axes = chain.op.kind is Kind.PAD and chain.written.inputs[3:4] == (True,)
    require(lists_axes and chain.pad, "no Pad node that lists axes", moot=True)
    return [_numbers(chain, pad_node(chain), value=False)]


def _numbers(chain: Chain, step: PadStep, *, value: bool) -> PassResult:
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(pad_itself(composer, chain, step.pads, value=value))


def _scalar(chain: Chain) -> PassResult:
    """Take the value away, or its axis."""
    step, given = chain.pad, chain.written.inputs[PadInput.VALUE :]
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
    if value is not None or len(chain.written.inputs) > PadInput.VALUE:
        changed[PadInput.VALUE] = value
    composer = Composer(chain.opset, chain.dtype)
    padded = composer.itself(changed)
    numbers = [Named(name) for name in (first.scale, first.zero_point) if name]
    sets = dict(first.attributes)
    return composer.finish(
        composer.add("DequantizeLinear", padded, *numbers, attributes=sets, domain=first.domain)
    )


WAYS = {
    "all-axes": Way(
        "Write the pads of a Pad node over all axes, without the input axes.",
        _all_axes,
        {Form.PAD_AXES},
    ),
    "plain-value": Way(
        "Write the value of a Pad as a scalar, or not at all where it is 0.",
        _scalar,
        removes=set(),
        adds=set(),
    ),
    "quantised-pad": Way(
        "Pad the quantised tensor where a Pad of floats stands between equal conversions.",
        _quantised,
        removes=set(),
    ),
}
