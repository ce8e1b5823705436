"""The check of every rewrite: does the runtime that it is for still run the node right?

Asked once for every rewrite, by the pipeline and by retargeting: what the runtime computed right
before, it must compute right after, and what it computed wrongly it must still load. Without a
target the runtime is onnxruntime. A new Pad in front of a pool is spelled so that no release of it
fuses the two (auto_pad=VALID on the pool); where its Pad fusion may harm what is written all the
same, that is held back, which is a Skip. For releases up to 1.20 count_include_pad is written
where an average behind a Pad gives up its auto_pad.

With a target, what both run right comes first, as onnxruntime is what validates the model. For a
node with no such way, the rows of the target alone decide, and the report says what onnxruntime
makes of it. What onnxruntime does not load even without its optimisations is written for no
target: the rows of all targets were measured with models that it loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from onnxpad.padding.chain import (
    NO_PAD,
    Around,
    AutoPad,
    Chain,
    InFront,
    NewPad,
    Pads,
    PadStep,
    PassResult,
    Skip,
    Unclear,
)
from onnxpad.padding.expansion import Expansion, Itself, Made, Numbers, Operand, Read, Step
from onnxpad.padding.fills import Constant, Fill, Implicit
from onnxpad.padding.operators import OPERATORS, Destination, Kind, Operator, PadInput
from onnxpad.runtimes.judge import newly_failing
from onnxpad.runtimes.onnxruntime.pad_fusion import (
    Odds,
    Way,
    fused_pads,
    harms,
    is_fusable,
    loses_count,
    worse,
)
from onnxpad.runtimes.onnxruntime.reference import reference
from onnxpad.runtimes.targets import Target

_TRY = ("--pass absorb-pad",)
_COUNTS = ("count_include_pad", 1)


class Choice(NamedTuple):
    """What is written of a pass's ways, or why nothing is.

    `held_back` says whether onnxruntime's Pad fusion kept one of them from being written as it is.
    """

    result: PassResult
    held_back: bool


class RuntimeCheck:
    """Chooses what is written of a pass's ways: for onnxruntime, or for the target `alone`.

    `held_back` says whether any choice that was asked for so far held a way back.
    """

    def __init__(self, alone: Target | None = None) -> None:
        self.alone = alone
        self.held_back = False

    def first_that_runs(self, before: Chain, ways: Iterable[PassResult]) -> Choice:
        """The first of `ways` that is run right, spelled so that it is; or why none is."""
        held: list[Chain | Expansion] = []
        return Choice(self._first(before, ways, held), bool(held))

    def _first(
        self, before: Chain, ways: Iterable[PassResult], held: list[Chain | Expansion]
    ) -> PassResult:
        """The same; into `held` goes what the fusion keeps from being written as it is.

        Where the target runs no way, what onnxruntime runs: another pass may go on from there.
        """
        safe: Chain | Expansion | None = None
        refusal: Skip | None = None
        for way in ways:
            found = spelled(before, way)
            if not isinstance(way, Skip) and found != way and _loads(before, way):
                held.append(way)
            if isinstance(found, Skip):
                if found is way and refusal is None and safe is None:
                    return way
                refusal = _both(refusal, found, way)
            elif self.alone is None or _runs(self.alone, before, found):
                return found
            else:
                safe = safe or found
        for way in held:
            if self.alone is not None and _runs(self.alone, before, way):
                return way
        return safe or refusal or Skip("")


def _both(first: Skip | None, found: Skip, way: PassResult) -> Skip:
    """The first reason, and what a way has to say that is itself a Skip."""
    if first is None or not isinstance(way, Skip):
        return first or found
    reason = "; ".join(filter(None, (first.reason, found.reason)))
    return replace(first, reason=reason, hints=first.hints or found.hints)


def _runs(target: Target, before: Chain, after: Chain | Expansion) -> bool:
    """Whether the target runs what it ran before, by its rows."""
    return not any(newly_failing(target, *pair) for pair in _operators(before, after))


def _loads(before: Chain, after: Chain | Expansion) -> bool:
    """Whether onnxruntime loads what it loaded before, its optimisations apart."""
    return not any(_kernel_refusal(*pair) for pair in _operators(before, after))


def _operators(before: Chain, after: Chain | Expansion) -> Iterator[tuple[Chain, Chain]]:
    """Every operator that a rewrite changes something for: as it was, and as it would be."""
    if isinstance(after, Chain):
        is_pad = before.op.kind is Kind.PAD
        yield before, after if is_pad else replace(after, around=_around(before, after))
    elif before.op.kind is not Kind.PAD:
        for index, written in _windows(before, after):
            yield before, _of_any_size(written, _data(after.steps[index]))


def spelled(before: Chain, after: PassResult) -> PassResult:
    """`after`, its new Pads spelled so that they stay apart from pools; or why it cannot be."""
    if isinstance(after, Skip):
        return after
    if before.op.kind is Kind.PAD:
        return _of_pad(before, after) if isinstance(after, Expansion) else after
    if isinstance(after, Expansion):
        return _expansion(before, after)
    written = replace(after, around=_around(before, after))
    if refusal := _kernel_refusal(before, written) or _left_alone(before, after):
        return refusal
    is_new = after.pad is not None and after.pad != before.pad
    if is_new and _needs_valid(written):
        return replace(after, padding=AutoPad.VALID)
    if not is_new and _must_count(before, written):
        after, written = (replace(one, fill=Constant(0)) for one in (after, written))
    way = worse(before, written)
    return after if way is None else _refusal(before, after, way)


def _kernel_refusal(before: Chain, written: Chain) -> Skip | None:
    """What the target `onnxruntime` has against the operator as it would be, fusion aside."""
    apart = replace(
        written,
        around=replace(written.around, nearest=NO_PAD),
        weight=written.weight._replace(is_padded=False),
    )
    rows = newly_failing(reference(), before, apart)
    return Skip(f"written like that, {rows[0].told(apart)}") if rows else None


def _left_alone(before: Chain, after: Chain) -> Skip | None:
    """Why an operator may not stop to read its Pad, which would then be fused into another."""
    nearest, step = before.around.nearest, before.pad or before.far_pad
    stops = after.pad is None or _stands_instead(after.pad)
    gone = before.pad is not None or (before.far_pad is not None and after.far_pad is None)
    if not (stops and gone and nearest.to_pools) or step is None:
        return None
    if step.mode != "constant" or PadInput.AXES in step.listed:
        return None
    return Skip(
        "a pool reads the Pad too, or a Conv takes it for its weight; left alone with it, "
        "onnxruntime would fuse it wrongly"
    )


def _needs_valid(written: Chain) -> bool:
    """Whether a new Pad is to be kept apart from the operator, and auto_pad=VALID does that."""
    if not _is_bare(written):
        return False
    fused = written.op.is_pool and fused_pads(written, Odds.POSSIBLE) is not None
    return fused or Way.COPY in harms(written, Odds.POSSIBLE)


def _is_bare(chain: Chain) -> bool:
    """Whether auto_pad=VALID says the same."""
    padding = chain.padding
    return isinstance(padding, Pads) and not any(padding.flat) and not chain.ceil_mode


def _must_count(before: Chain, written: Chain) -> bool:
    """Whether count_include_pad, which says nothing without pads, is to be written as well.

    onnxruntime up to 1.20 would otherwise divide by too little, and did not before.
    """
    loses = _is_bare(written) and loses_count(written, Odds.POSSIBLE)
    return loses and not loses_count(before, Odds.SURE)


def _refusal(before: Chain, after: Chain, way: Way) -> Skip:
    """Why what the rewrite writes would not run right."""
    if way is Way.WEIGHT:
        return Skip("its auto_pad keeps onnxruntime from fusing the Pad of its weight, wrongly")
    if isinstance(before.padding, AutoPad):
        return Skip(
            "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly", _TRY
        )
    if before.pad is not None and after.pad is None:
        return Skip("another Pad stands in front of the Pad; onnxruntime may fuse that, wrongly")
    return Skip("onnxruntime would fuse the Pad in front of it, wrongly", _TRY)


def _around(before: Chain, after: Chain) -> Around:
    """The surroundings of `after`: Pads that it lost or got."""
    around, nearest, step = before.around, before.around.nearest, after.pad
    if step is not None and step != before.pad:
        beyond = nearest.beyond if _stands_instead(step) else nearest.pad is not None
        outside = around.dequantised is not None and not _stands_instead(step)
        new = InFront(step, copied=nearest.copied, beyond=beyond and not outside)
        return replace(around, nearest=new)
    row_stays = before.far_pad is not None and after.far_pad is not None
    is_gone = before.pad is not None or (before.far_pad is not None and after.far_pad is None)
    if step is not None or not is_gone:
        return around
    behind = nearest.beyond or row_stays
    return replace(around, nearest=InFront(_any_pad(before)) if behind else NO_PAD)


def _any_pad(chain: Chain) -> PadStep:
    """A Pad that writes 0, of which nothing else is known."""
    unclear = Unclear("its pads are not known")
    pads = Pads.zero(chain.tensor_rank)
    return PadStep(pads, Constant(0), unclear=unclear, computed=(PadInput.PADS,))


def _stands_instead(step: PadStep) -> bool:
    return isinstance(step, NewPad) and step.instead


def _expansion(before: Chain, after: Expansion) -> Expansion | Skip:
    """The same for an operator with others around it, of which some may be of its kind."""
    if _ends_in_zeros(after):
        return Skip("it would end in a Pad that onnxruntime may fuse into what reads it, wrongly")
    steps = list(after.steps)
    for index, written in _windows(before, after):
        node = after.steps[index]
        if refusal := _kernel_refusal(before, _of_any_size(written, _data(node))):
            return refusal
        is_new = _data(node) != Read(0)
        if is_new and _needs_valid(written):
            steps[index] = _with_valid(before, node)
            continue
        if not is_new and _must_count(before, written):
            steps[index] = _counting(node)
        if way := worse(before, written):
            return _refusal(before, written, way)
    return after._replace(steps=tuple(steps))


def _ends_in_zeros(after: Expansion) -> bool:
    """Whether the result is a new Pad of a kind that onnxruntime fuses into a pool behind it."""
    last = after.steps[after.results[0].step]
    if not isinstance(last, Step) or last.op_type != "Pad" or last.inputs[0] == Read(0):
        return False
    return _new_step(last) is not None


def _windows(before: Chain, after: Expansion) -> Iterator[tuple[int, Chain]]:
    """The steps of an expansion that are the operator, or a pool in its place, as chains."""
    for index, node in enumerate(after.steps):
        written = _with(before, after, node)
        if written is not None:
            yield index, written


def _of_any_size(chain: Chain, data: Operand | None) -> Chain:
    """The chain with sizes left open where it reads what a new node makes."""
    if data == Read(0):
        return chain
    return replace(chain, axes=tuple(axis._replace(size=None) for axis in chain.axes))


def kept_apart(steps: Sequence[Step]) -> tuple[Step, ...]:
    """New nodes in a row, their pools with auto_pad=VALID behind a Pad that writes 0."""
    found = list(steps)
    for index, step in enumerate(steps):
        written, front = dict(step.attributes), steps[index - 1] if index else None
        pool = OPERATORS.get((step.domain, step.op_type))
        if front is None or front.op_type != "Pad" or pool is None or not pool.is_pool:
            continue
        pads = written.get("pads")
        bare = isinstance(pads, tuple) and not any(pads) and "ceil_mode" not in written
        if bare and _new_step(front) is not None:
            found[index] = _valid_step(step)
    return tuple(found)


def _data(node: Step | Itself) -> Operand | None:
    return node.inputs[0] if isinstance(node, Step) else dict(node.inputs).get(0, Read(0))


def _with_valid(before: Chain, node: Step | Itself) -> Step | Itself:
    """The node with auto_pad=VALID in place of pads of 0."""
    if isinstance(node, Step):
        return _valid_step(node)
    kept = tuple((name, value) for name, value in node.sets if name != "pads")
    sets = (*kept, ("auto_pad", str(AutoPad.VALID)))
    removes = tuple(name for name in node.removes if name != "auto_pad")
    gone = ("pads",) if "pads" in dict(before.attributes) else ()
    return node._replace(sets=sets, removes=tuple(dict.fromkeys((*removes, *gone))))


def _valid_step(step: Step) -> Step:
    kept = tuple((name, value) for name, value in step.attributes if name != "pads")
    return step._replace(attributes=(*kept, ("auto_pad", str(AutoPad.VALID))))


def _counting(node: Step | Itself) -> Step | Itself:
    """The node with count_include_pad=1."""
    if isinstance(node, Step):
        ahead = tuple(one for one in node.attributes if one[0] != "pads")
        return node._replace(attributes=(*ahead, _COUNTS, *node.attributes[len(ahead) :]))
    removes = tuple(name for name in node.removes if name != _COUNTS[0])
    return node._replace(sets=(_COUNTS, *node.sets), removes=removes)


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
    half = len(pads) // 2
    data = _data(node)
    return replace(
        before,
        op=op,
        padding=Pads(pads[:half], pads[half:]),
        ceil_mode=written.get("ceil_mode") == 1,
        fill=_fill(op, before, counts=written.get("count_include_pad") == 1),
        pad=before.pad if data == Read(0) else None,
        far_pad=before.far_pad if data == Read(0) else None,
        around=replace(before.around, nearest=_nearest(before, after, data)),
    )


def _fill(op: Operator, before: Chain, *, counts: bool) -> Fill:
    if op.kind is not Kind.AVERAGE:
        return before.fill
    return Constant(0) if counts else Implicit.NOTHING


def _nearest(before: Chain, after: Expansion, data: Operand | None) -> InFront:
    """The Pad in front of what reads `data`."""
    old = before.around.nearest
    if data == Read(0):
        return old
    step = after.steps[data.step] if isinstance(data, Made) else None
    if not isinstance(step, Step) or step.op_type != "Pad":
        return NO_PAD
    beyond = _nearest(before, after, step.inputs[0]).pad is not None
    copied = old.copied and step.inputs[0] == Read(0)
    return InFront(_new_step(step), copied=copied, beyond=beyond)


def _new_step(pad: Step) -> PadStep | None:
    """A new Pad that writes 0, or may; one with axes is left alone by onnxruntime."""
    written = dict(pad.attributes)
    listed, value, axes = (*pad.inputs[1:], None, None, None)[:3]
    number = value.values[0] if isinstance(value, Numbers) else written.get("value", 0)
    known = value is None or isinstance(value, Numbers)
    if (
        axes is not None
        or not known
        or number != 0
        or written.get("mode", "constant") != "constant"
    ):
        return None
    flat = listed.values if isinstance(listed, Numbers) else written.get("pads")
    if not isinstance(flat, tuple):
        pads, unclear = Pads((), ()), Unclear("its pads are computed")
        return PadStep(pads, Constant(0), unclear=unclear, computed=(PadInput.PADS,))
    half, cells = len(flat) // 2, tuple(int(one) for one in flat)
    return PadStep(Pads(cells[:half], cells[half:]), Constant(0))


def _of_pad(before: Chain, after: Expansion) -> Expansion | Skip:
    """A Pad node itself: a pool that reads it must not suffer from how it is written."""
    nearest, step, at_least = before.around.nearest, before.pad, before.around.at_least
    if not nearest.to_pools or step is None or is_fusable(step, before, Odds.SURE):
        return after
    # Windows of such pools are wider than what the Pad adds.
    wide = before.around.feeds_alone is Destination.MAX_POOLS
    if wide and at_least is not None and at_least >= 0 and not nearest.beyond:
        return after
    index = after.itself
    last = after.steps[after.results[0].step if index is None else index]
    if isinstance(last, Step):
        passes_on = last.op_type == "Identity" and last.inputs == (Read(0),) and nearest.beyond
        return Skip(_what_keeps(step), _TRY) if passes_on else after
    if after.results[0].step != index:
        return after
    inputs, written = dict(last.inputs), dict(before.attributes) | dict(last.sets)
    given = inputs.get(PadInput.PADS)
    flat = given.values if isinstance(given, Numbers) else written.get("pads")
    cells = tuple(map(int, flat)) if isinstance(flat, tuple) else step.pads.flat
    half = len(cells) // 2
    pads = Pads(cells[:half], cells[half:])
    listed = tuple(position for position in step.listed if position not in inputs)
    computed = () if isinstance(given, Numbers) else step.computed
    value = inputs.get(PadInput.VALUE, Read(PadInput.VALUE))
    number = value.values[0] if isinstance(value, Numbers) else 0
    fill = step.fill if isinstance(value, Read) else Constant(number)
    new = replace(step, pads=pads, listed=listed, computed=computed, fill=fill)
    return Skip(_what_keeps(step), _TRY) if is_fusable(new, before, Odds.POSSIBLE) else after


def _what_keeps(step: PadStep) -> str:
    """How the Pad is written that onnxruntime leaves alone."""
    if PadInput.AXES in step.listed:
        what = "its axes keep"
    elif step.computed:
        what = "its pads are computed from sizes, which keeps"
    else:
        what = "the way it is written keeps"
    return f"{what} onnxruntime from fusing it into a pool, wrongly"
