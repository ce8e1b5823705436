"""Whether onnxruntime still runs what a rewrite writes, and how to spell it so that it does.

Asked once for every rewrite: what onnxruntime computed right before, it must compute right after,
and what it computed wrongly it must still load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from onnxpad.padding.chain import (
    Around,
    AutoPad,
    Chain,
    InFront,
    NewPad,
    Pads,
    PadStep,
    Skip,
    Verdict,
)
from onnxpad.padding.expansion import Expansion, Itself, Made, Numbers, Operand, Read, Step
from onnxpad.padding.fills import Constant, Fill, Implicit
from onnxpad.padding.operators import OPERATORS, Kind, Operator, PadInput
from onnxpad.runtimes.judge import newly_failing
from onnxpad.runtimes.onnxruntime.pad_fusion import Way, harm, worse
from onnxpad.runtimes.targets import find_target

_TRY = ("--pass absorb-pad",)


def spelled(before: Chain, after: Verdict) -> Verdict:
    """`after`, if need be with auto_pad=VALID, which keeps Pads apart; or why it cannot be."""
    if isinstance(after, Skip):
        return after
    if before.op.kind is Kind.PAD:
        return _of_pad(before, after) if isinstance(after, Expansion) else after
    if refusal := left_alone(before, after):
        return refusal
    if isinstance(after, Expansion):
        return _expansion(before, after)
    written = replace(after, around=_around(before, after))
    if refusal := _kernel_refusal(before, written):
        return refusal
    is_new = after.pad is not None and after.pad != before.pad
    if is_new and _is_bare(after) and _needs_shield(written):
        return _valid(after)
    if not _is_harmed(written):
        return after
    return _refusal(before, written) if worse(before, written) else after


def _kernel_refusal(before: Chain, written: Chain) -> Skip | None:
    """What the target `onnxruntime` has against the operator as it would be, fusion aside."""
    apart = replace(written, around=replace(written.around, front=(), weight_front=()))
    rows = newly_failing(find_target("onnxruntime"), before, apart)
    return Skip(f"written like that, {rows[0].told(apart)}") if rows else None


def left_alone(before: Chain, after: Verdict) -> Skip | None:
    """Why an operator may not stop to read its Pad, which would then be fused into another."""
    beside: tuple[Chain, ...] = ()
    if isinstance(after, Chain):
        replaced = after.pad is None or _stands_instead(after.pad)
        if before.pad is not None and replaced:
            beside += before.around.beside
        if before.far_pad is not None and after.far_pad is None and after.pad is None:
            beside += before.around.far_beside
    for other in {id(one): one for one in beside}.values():
        found = harm(other, other.around, doubtful=True)
        if found is not None:
            article = "an" if other.op.name[0] in "AEIOU" else "a"
            role = " as its weight" if found.way is Way.WEIGHT else " too"
            return Skip(
                f"{article} {other.op.name} reads the Pad{role}; left alone with it, onnxruntime "
                "would fuse it wrongly"
            )
    return None


def _is_harmed(chain: Chain) -> bool:
    return harm(chain, chain.around, doubtful=True) is not None


def _needs_shield(chain: Chain) -> bool:
    """Whether auto_pad=VALID keeps Pads apart that are fused if they have no other reader.

    Other readers may be equal to this one after the next rewrite; onnxruntime makes one of them.
    """
    around = chain.around
    alone = replace(around, front=tuple(replace(one, readers=1) for one in around.front))
    return _is_harmed(replace(chain, around=alone)) and not _is_harmed(
        _valid(replace(chain, around=alone))
    )


def _is_bare(chain: Chain) -> bool:
    """Whether auto_pad=VALID says the same."""
    padding = chain.padding
    return isinstance(padding, Pads) and not any(padding.flat) and not chain.ceil_mode


def _refusal(before: Chain, after: Chain) -> Skip:
    """Why what the rewrite writes would not run right."""
    found = harm(after, after.around, doubtful=True)
    if found is not None and found.way is Way.WEIGHT:
        return Skip("its auto_pad keeps onnxruntime from fusing the Pad of its weight, wrongly")
    if isinstance(before.padding, AutoPad):
        return Skip(
            "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly", _TRY
        )
    if before.pad is not None and after.pad is None:
        return Skip("a Pad that writes 0 stands in front of the Pad; onnxruntime would fuse that")
    if before.around.beside and after.padding == before.padding:
        return Skip(
            "another pool reads the Pad in front too; with equal attributes onnxruntime makes one "
            "of both and fuses the Pad wrongly"
        )
    return Skip("onnxruntime would fuse the Pad in front of it, wrongly", _TRY)


def _around(before: Chain, after: Chain) -> Around:
    """The surroundings of `after`: Pads that it lost or got."""
    around, front, step = before.around, before.around.front, after.pad
    if step is not None and step != before.pad:
        instead = _stands_instead(step)
        entry = InFront(step, copied_out=(front[0] if instead else around).copied_out)
        outside = around.dequantised is not None and not instead
        return replace(around, front=(entry,) if outside else (entry, *front[instead:]))
    gone = 0
    if before.far_pad is not None and after.far_pad is None and after.pad is None:
        gone = len(before.far_pad.crossed) + 1 if before.pad is not None else 1
    elif before.pad is not None and after.pad is None:
        gone = 1
    equals = sum(1 for one in (*around.beside, *around.far_beside) if _says_what(one, after))
    if not gone and equals:
        return replace(around, front=_with_readers_less(front, equals))
    return replace(around, front=front[gone:])


def _stands_instead(step: PadStep) -> bool:
    return isinstance(step, NewPad) and step.instead


def _says_what(one: Chain, after: Chain) -> bool:
    """Whether another reader of the Pad then says what the operator says: one is made of both."""
    windows, others = (
        [(axis.kernel, axis.stride, axis.dilation) for axis in chain.axes] for chain in (after, one)
    )
    modes, its = (
        (chain.op, chain.padding, chain.ceil_mode, chain.counts_padding) for chain in (after, one)
    )
    return windows == others and modes == its


def _with_readers_less(front: tuple[InFront, ...], equals: int) -> tuple[InFront, ...]:
    return tuple(replace(one, readers=max(1, one.readers - equals)) for one in front)


def _expansion(before: Chain, after: Expansion) -> Expansion | Skip:
    """The same for an operator with others around it, of which some may be of its kind."""
    steps = list(after.steps)
    for place, node in enumerate(steps):
        written = _with(before, after, node)
        if written is None:
            continue
        if refusal := _kernel_refusal(before, _of_any_size(written, _data(node))):
            return refusal
        is_new = _data(node) != Read(0)
        if is_new and _is_bare(written) and _needs_shield(written):
            steps[place] = _shielded(before, node)
        elif _is_harmed(written) and worse(before, written):
            return _refusal(before, written)
    return replace(after, steps=tuple(steps))


def _of_any_size(chain: Chain, data: Operand | None) -> Chain:
    """The chain with sizes left open where it reads what a new node makes."""
    if data == Read(0):
        return chain
    return replace(chain, axes=tuple(replace(axis, size=None) for axis in chain.axes))


def _valid(chain: Chain) -> Chain:
    return replace(chain, padding=AutoPad.VALID)


def _data(node: Step | Itself) -> Operand | None:
    return node.inputs[0] if isinstance(node, Step) else dict(node.inputs).get(0, Read(0))


def _shielded(before: Chain, node: Step | Itself) -> Step | Itself:
    """The node with auto_pad=VALID in place of pads of 0."""
    written = node.attributes if isinstance(node, Step) else node.sets
    kept = tuple((name, value) for name, value in written if name != "pads")
    sets = (*kept, ("auto_pad", str(AutoPad.VALID)))
    if isinstance(node, Step):
        return replace(node, attributes=sets)
    gone = ("pads",) if "pads" in dict(before.attributes) else ()
    return replace(node, sets=sets, removes=tuple(dict.fromkeys((*node.removes, *gone))))


def _with(before: Chain, after: Expansion, node: Step | Itself) -> Chain | None:
    """The operator, or a pool in its place, as the expansion writes it."""
    op = before.op
    if isinstance(node, Step) and node.op_type != op.name:
        found = OPERATORS.get((node.domain, node.op_type))
        if found is None or not found.is_pool or not op.is_pool:
            return None
        op = found
    if isinstance(node, Step):
        written = dict(node.attributes)
    else:
        written = {n: v for n, v in before.attributes if n not in node.removes} | dict(node.sets)
    pads, kernel = written.get("pads", Pads.zero(before.rank).flat), written.get("kernel_shape")
    if written.get("auto_pad", "NOTSET") != "NOTSET" or not isinstance(pads, tuple):
        return None
    if isinstance(kernel, tuple) and kernel != tuple(axis.kernel for axis in before.axes):
        return None
    front = _front(before, after, _data(node))
    if isinstance(node, Itself) and not node.inputs and (alike := _alike(before, written)):
        front = _with_readers_less(front, alike)
    half = len(pads) // 2
    return replace(
        before,
        op=op,
        padding=Pads(pads[:half], pads[half:]),
        ceil_mode=written.get("ceil_mode") == 1,
        fill=_fill(op, before, counts=written.get("count_include_pad") == 1),
        around=replace(before.around, front=front),
    )


def _fill(op: Operator, before: Chain, *, counts: bool) -> Fill:
    if op.kind is not Kind.AVERAGE:
        return before.fill
    return Constant(0) if counts else Implicit.NOTHING


def _alike(before: Chain, written: Mapping[str, object]) -> int:
    """How many operators that read the same Pad are then equal: onnxruntime makes one of them."""
    others = before.around.beside
    same = (one for one in others if one.op is before.op and dict(one.attributes) == written)
    return sum(1 for _ in same)


def _front(before: Chain, after: Expansion, data: Operand | None) -> tuple[InFront, ...]:
    """The Pads in front of what reads `data`."""
    if data == Read(0):
        return before.around.front
    step = after.steps[data.step] if isinstance(data, Made) else None
    if not isinstance(step, Step) or step.op_type != "Pad":
        return ()
    found = _new_step(step.inputs[1:], dict(step.attributes))
    if found is None:
        return ()
    copied_out = step.inputs[0] == Read(0) and before.around.copied_out
    entry = InFront(found, copied_out=copied_out)
    return (entry, *_front(before, after, step.inputs[0]))


def _new_step(inputs: tuple[Operand | None, ...], written: dict[str, object]) -> PadStep | None:
    """A new Pad whose numbers are known; one with axes is left alone by onnxruntime."""
    listed, value, axes = (*inputs, None, None, None)[:3]
    flat = listed.values if isinstance(listed, Numbers) else written.get("pads")
    if not isinstance(flat, tuple) or axes is not None:
        return None
    number = value.values[0] if isinstance(value, Numbers) else written.get("value", 0)
    if not isinstance(number, int | float) or (
        value is not None and not isinstance(value, Numbers)
    ):
        return None
    half = len(flat) // 2
    cells = tuple(int(one) for one in flat)
    mode = str(written.get("mode", "constant"))
    return PadStep(Pads(cells[:half], cells[half:]), Constant(number), mode)


def _of_pad(before: Chain, after: Expansion) -> Expansion | Skip:
    """A Pad node itself: what reads it must not suffer from how it is written."""
    for reader in before.around.behind:
        front = reader.around.front
        spots = [spot for spot, one in enumerate(front) if one.key == before.around.key]
        if not spots:
            continue
        spot = spots[0]
        row = (*front[:spot], *_instead(before, after, front[spot]))
        row += front[spot + 1 :] if _reads_on(after) else ()
        written = replace(reader, around=replace(reader.around, front=row))
        if worse(reader, written):
            return Skip(_what_keeps(before.pad), _TRY)
    return after


def _what_keeps(step: PadStep | None) -> str:
    """How the Pad is written that onnxruntime leaves alone."""
    if step is not None and PadInput.AXES in step.listed:
        what = "its axes keep"
    elif step is not None and step.computed:
        what = "its pads are computed from sizes, which keeps"
    else:
        what = "the way it is written keeps"
    return f"{what} onnxruntime from fusing it into what reads it, wrongly"


def _instead(before: Chain, after: Expansion, entry: InFront) -> tuple[InFront, ...]:
    """What stands in the place of the Pad, if its readers still see a Pad."""
    place, step = after.itself, before.pad
    if place is None or step is None or not after.results or after.results[0].step != place:
        return ()
    node = after.steps[place]
    if not isinstance(node, Itself):
        return ()
    inputs, written = dict(node.inputs), dict(before.attributes) | dict(node.sets)
    given = inputs.get(1)
    flat = given.values if isinstance(given, Numbers) else written.get("pads")
    if not isinstance(flat, tuple):
        return (entry,)
    half = len(flat) // 2
    order = entry.order or tuple(range(half))
    if sorted(order) != list(range(half)):
        return (entry,)
    pads = Pads(*(tuple(int(side[axis]) for axis in order) for side in (flat[:half], flat[half:])))
    listed = tuple(place for place in step.listed if place not in inputs)
    new = replace(step, pads=pads, computed=(), listed=listed)
    return (replace(entry, pad=new, at_run_time=False),)


def _reads_on(after: Expansion) -> bool:
    """Whether the Pad still reads what it read."""
    place = after.itself
    node = None if place is None else after.steps[place]
    return isinstance(node, Itself) and dict(node.inputs).get(0, Read(0)) == Read(0)
