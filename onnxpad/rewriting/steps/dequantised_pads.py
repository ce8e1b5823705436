"""New Pads of operators whose input comes from DequantizeLinear.

A Pad between both would part what runtimes compute as one quantised operator. It goes in front
of DequantizeLinear and writes the zero point (QuantizeLinear -> Pad -> DequantizeLinear -> Conv),
or in front of QuantizeLinear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxpad.padding.chain import Chain, Conversion, Dequantised, NewPad, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.expansion import Expansion, Itself, Made, Named, Numbers, Operand, Read, Step
from onnxpad.padding.fills import Constant, Fill, TensorValue, lowest
from onnxpad.padding.forms import windows_hold_data


def outside_group(chain: Chain, after: Chain | Expansion) -> PassResult:
    """What a pass made of `chain`, with new Pads on the right side of the DequantizeLinear.

    A Skip where a Pad would have to write what it cannot write there.
    """
    dequantised = chain.around.dequantised
    if dequantised is None:
        return after
    if isinstance(after, Chain):
        step = after.pad
        if not isinstance(step, NewPad):
            return after
        if step.mode != "constant":
            return Skip(dequantised.refusal) if dequantised.refusal else after
        fill = _fill(chain, dequantised, step.fill, step.pads.flat)
        return fill if isinstance(fill, Skip) else replace(after, pad=replace(step, fill=fill))
    return _expansion(chain, dequantised, after)


def _fill(
    chain: Chain, dequantised: Dequantised, fill: Fill | None, flat: Sequence[int]
) -> Fill | Skip:
    """What the Pad writes in its place for what it would write in front of the operator."""
    if dequantised.refusal:
        return Skip(dequantised.refusal)
    value = fill.value if isinstance(fill, Constant) else None
    if value == 0:
        return Constant(0) if dequantised.zero is None else dequantised.zero
    if value is None or value not in lowest(chain.dtype) or not chain.is_max:
        return Skip(f"its input comes from DequantizeLinear, in front of which no {fill} can be")
    if chain.uses_indices:
        return Skip(
            "its Indices are used and its input comes from DequantizeLinear, where a padded cell "
            "is as low as data may be"
        )
    if not _holds_cells(chain, flat):
        return Skip(
            "its input comes from DequantizeLinear and a window may hold padding alone, whose "
            "lowest value is not that of the quantised type"
        )
    return fill if dequantised.zero is None and fill is not None else Constant(dequantised.lowest)


def _holds_cells(chain: Chain, flat: Sequence[int]) -> bool:
    if not flat:
        return False
    half, spatial, own = len(flat) // 2, chain.spatial, effective_pads(chain)
    wanted = Pads(tuple(flat[:half][spatial]), tuple(flat[half:][spatial]))
    return windows_hold_data(chain, wanted) and isinstance(own, Pads)


def _expansion(chain: Chain, dequantised: Dequantised, after: Expansion) -> Expansion | Skip:
    """The same steps; each Pad of what the node reads moves, and conversions follow it."""
    steps: list[Step | Itself] = []
    moved: dict[int, int] = {}
    for index, step in enumerate(after.steps):
        found = _renumbered(step, moved)
        if isinstance(found, Step) and found.op_type == "Pad" and found.inputs[0] == Read(0):
            shifted = _shifted(chain, dequantised, found)
            if isinstance(shifted, Skip):
                return shifted
            found = shifted
            steps.append(found)
            for conversion in dequantised.steps:
                steps.append(_conversion(found.role, conversion, Made(len(steps) - 1)))
        else:
            steps.append(found)
        moved[index] = len(steps) - 1
    results = tuple(Made(moved[made.step], made.output) for made in after.results)
    return Expansion(tuple(steps), results)


def _renumbered(step: Step | Itself, moved: dict[int, int]) -> Step | Itself:
    if isinstance(step, Itself):
        read = tuple((position, one and _moved(one, moved)) for position, one in step.inputs)
        return step._replace(inputs=read)
    return step._replace(inputs=tuple(one and _moved(one, moved) for one in step.inputs))


def _moved(operand: Operand, moved: dict[int, int]) -> Operand:
    return Made(moved[operand.step], operand.output) if isinstance(operand, Made) else operand


def _shifted(chain: Chain, dequantised: Dequantised, step: Step) -> Step | Skip:
    """The Pad on the tensor that the first conversion reads."""
    if dict(step.attributes).get("mode", "constant") != "constant":
        return step._replace(inputs=(Named(dequantised.steps[0].source), *step.inputs[1:]))
    pads, value = (*step.inputs[1:], None, None)[:2]
    flat = pads.values if isinstance(pads, Numbers) else ()
    written: Fill | None = Constant(0)
    if isinstance(value, Numbers):
        written = Constant(value.values[0])
    elif value is not None:
        written = None
    by_attribute = dict(step.attributes).get("value")
    if isinstance(by_attribute, float):
        written = Constant(by_attribute)
    fill = _fill(chain, dequantised, written, [int(pad) for pad in flat])
    if isinstance(fill, Skip):
        return fill
    first = dequantised.steps[0]
    inputs: list[Operand | None] = [Named(first.source), *step.inputs[1:2]]
    if isinstance(fill, TensorValue):
        inputs.append(Named(fill.tensor))
    elif isinstance(fill, Constant) and fill.value != 0:
        inputs.append(Numbers(f"{step.role}_value", first.dtype, (), (fill.value,)))
    return step._replace(inputs=(*inputs, *step.inputs[3:]))


def _conversion(role: str, conversion: Conversion, data: Made) -> Step:
    inputs: list[Operand | None] = [data, Named(conversion.scale)]
    if conversion.zero_point:
        inputs.append(Named(conversion.zero_point))
    kind = "QuantizeLinear" if conversion.quantises else "DequantizeLinear"
    return Step(
        f"{role}_{'quantize' if conversion.quantises else 'dequantize'}",
        kind,
        tuple(inputs),
        conversion.attributes,
        domain=conversion.domain,
    )
