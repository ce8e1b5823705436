"""Write the value of a Pad as a scalar, or not at all where it is 0.

What: constant_value goes where it is 0, which it means anyway, and where its name is empty and
nothing stands behind it; a value that is a list of one number becomes a number. Some runtimes
refuse a value, a list, or an empty name.

Exact: always.

Refuses: pads and values that are not known, NaN and texts among them; values of element types that
are not known. -0.0 stays, it is another number than 0.

Cost: none.

Example: Pad with the inputs data, pads and [0] becomes Pad with the inputs data and pads.
"""

from __future__ import annotations

import math

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.expansion import Numbers, Operand
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind, PadInput
from onnxpad.rewriting.steps.composer import Composer

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Take the value away, or its axis."""
    step = chain.pad
    given = chain.inputs[PadInput.VALUE :]
    if (
        chain.op.kind is not Kind.PAD
        or step is None
        or not (given[:1] == (True,) or given == (False,))
    ):
        return Skip("no Pad node with a value", moot=True)
    composer = Composer(chain.opset, chain.dtype)
    if given == (False,):
        return composer.finish(composer.itself({PadInput.VALUE: None}))
    if step.unclear:
        return step.unclear.as_skip()
    if step.mode != "constant":
        return Skip("it writes no value", moot=True)
    if not isinstance(step.fill, Constant):
        return Skip("its value is no number that is known")
    value: Operand | None = None
    if step.fill.value != 0 or math.copysign(1, step.fill.value) < 0:
        if PadInput.VALUE not in step.listed:
            return Skip("its value is a number other than 0", moot=True)
        if not chain.dtype:
            return Skip("the element type of its input is not known")
        value = Numbers("value", chain.dtype, (), (step.fill.value,))
    return composer.finish(composer.itself({PadInput.VALUE: value}))
