"""Pad the quantised tensor where a Pad of floats stands between equal conversions.

What: DequantizeLinear, Pad, QuantizeLinear becomes a Pad of the whole numbers that writes the zero
point (or what its value is quantised to) in front of both conversions, which runtimes leave out
then. Otherwise they pad floats.

Exact: always; the conversions take each other back, x * scale / scale rounds to x.

Refuses: conversions with other numbers behind than in front, with a scale for each channel or
block, or one that is not a constant float32; Pads that something else reads, or that are results
of the model; other types than int8 and uint8, opsets before 11.

Cost: none.

Example: DequantizeLinear of uint8 with zero point 128, Pad [0,0,1,1, 0,0,1,1] and QuantizeLinear
become a Pad with 128, DequantizeLinear and QuantizeLinear.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.expansion import Named, Numbers, Operand
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import PadInput
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_node
from onnxpad.rewriting.steps.refusals import refuse

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
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
