"""The check of every rewrite: does onnxruntime still run the node right?

Asked once for every rewrite, by the pipeline and by retargeting: what the runtime computed right
before, it must compute right after, and what it computed wrongly it must still load. A new Pad in
front of a pool is spelled so that no release of it fuses the two (auto_pad=VALID on the pool);
where its Pad fusion may harm what is written all the same, that is a Skip. For releases up to 1.20
count_include_pad is written where an average behind a Pad gives up its auto_pad.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from onnxpad.padding.chain import (
    FURTHER,
    Around,
    AutoPad,
    Chain,
    Mark,
    NewPad,
    Pads,
    PadStep,
    PassResult,
    Skip,
)
from onnxpad.padding.expansion import Expansion, Itself, Made, Numbers, Operand, Read, Step
from onnxpad.padding.fills import Constant, Implicit, number_of
from onnxpad.padding.operators import OPERATORS, Kind, PadInput
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
from onnxpad.runtimes.targets import Target, find_target

_RELEASE = "1.31"
"""The newest that folds Pads into pools wrongly; what 1.32 does wrong, it does as well."""
_TRY = ("--pass absorb-pad",)
_VALID = ("auto_pad", str(AutoPad.VALID))


@cache
def reference() -> Target:
    """The release of onnxruntime that every rewrite must run right in, without its number."""
    found = find_target(f"onnxruntime@{_RELEASE}")
    return replace(found, name="onnxruntime", history=found.rows)


def first_that_runs(before: Chain, ways: Iterable[PassResult]) -> PassResult:
    """The first of a pass's ways that is run right, spelled so that it is; or why none is."""
    refusal: Skip | None = None
    for way in ways:
        checked = spelled(before, way)
        if not isinstance(checked, Skip) or (checked is way and refusal is None):
            return checked
        refusal = _both(refusal, checked, way)
    return refusal or Skip("")


def _both(first: Skip | None, found: Skip, way: PassResult) -> Skip:
    """The first reason, and what a way has to say that is itself a Skip."""
    if first is None or not isinstance(way, Skip):
        return first or found
    reason = "; ".join(filter(None, (first.reason, found.reason)))
    return replace(first, reason=reason, hints=first.hints or found.hints)


def spelled(before: Chain, after: PassResult) -> PassResult:
    """`after`, its new Pads spelled so that they stay apart from pools; or why it cannot be."""
    if isinstance(after, Skip):
        return after
    if before.op.kind is Kind.PAD:
        return _of_pad(before, after) if isinstance(after, Expansion) else after
    if isinstance(after, Expansion):
        return _of_several(before, after) or _expansion(before, after)
    written = _placed(before, after)
    if refusal := _kernel_refusal(before, written) or _left_alone(before, after):
        return refusal
    is_new = after.pad is not None and after.pad != before.pad
    if is_new and _needs_valid(written):
        return replace(after, padding=AutoPad.VALID)
    if not is_new and _must_count(before, written):
        after, written = (replace(one, fill=Constant(0)) for one in (after, written))
    return _refusal(before, written) or after


def _kernel_refusal(before: Chain, written: Chain) -> Skip | None:
    """What the target `onnxruntime` has against the operator as it would be, fusion aside."""
    apart = replace(
        written,
        around=replace(written.around, nearest=None),
        weight=written.weight._replace(is_padded=False),
    )
    rows = newly_failing(reference(), before, apart)
    if not rows:
        return None
    return Skip(f"onnxruntime {rows[0].answer} it written like that: {rows[0].why}")


def _of_several(before: Chain, after: Expansion) -> Skip | None:
    """What onnxruntime has against the Pad that takes the place of several nodes."""
    pads = (one for one in after.steps if isinstance(one, Step) and one.op_type == "Pad")
    if not before.reads or before.pad is None or not any(pads):
        return None
    return _kernel_refusal(before, replace(before, op=OPERATORS["", "Pad"]))


def _left_alone(before: Chain, after: Chain) -> Skip | None:
    """Why an operator may not stop to read its Pad, which would then be fused into another."""
    step = before.pad or before.around.far_pad
    stops = after.pad is None or _stands_instead(after.pad)
    if step is None or not (
        stops and _loses_pad(before, after) and Mark.POOLS_READ_PAD in before.around.marks
    ):
        return None
    if step.mode != "constant" or PadInput.AXES in step.listed:
        return None
    return Skip(
        "a pool may read the Pad too, or a Conv take it for its weight; left alone with it, "
        "onnxruntime would fuse it wrongly"
    )


def _loses_pad(before: Chain, after: Chain) -> bool:
    lost = before.around.far_pad and not after.around.far_pad
    return before.pad is not None or bool(lost)


def _needs_valid(written: Chain) -> bool:
    """Whether a new Pad is to be kept apart from the operator, and auto_pad=VALID does that."""
    fused = written.op.is_pool and fused_pads(written, Odds.POSSIBLE) is not None
    return _is_bare(written) and (fused or Way.COPY in harms(written, Odds.POSSIBLE))


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


def _refusal(before: Chain, written: Chain) -> Skip | None:
    """Why what a rewrite writes would not run right."""
    if worse(before, written) is None:
        return None
    if isinstance(before.padding, AutoPad):
        reason = "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly"
        return Skip(reason, _TRY)
    return Skip("onnxruntime would fuse a Pad in front of it, wrongly", _TRY)


def _placed(before: Chain, after: Chain) -> Chain:
    """`after` with the Pad that is then nearest to it."""
    around, step = after.around, after.pad
    if step is not None and step != before.pad:
        return replace(after, around=replace(around, nearest=_new_nearest(around, step)))
    if step is not None or not _loses_pad(before, after):
        return after
    step = around.nearest
    behind = step is not None and step.unclear == FURTHER
    unknown = PadStep(Pads.zero(before.tensor_rank), Constant(0), unclear=FURTHER)
    return replace(after, around=replace(around, nearest=unknown if behind else None))


def _new_nearest(around: Around, step: PadStep) -> PadStep:
    """A new Pad, in front of which others may stand."""
    old = around.nearest
    if _stands_instead(step):
        follows = old is not None and old.unclear == FURTHER
    else:
        follows = old is not None and around.dequantised is None
    return replace(step, unclear=FURTHER) if follows and not step.unclear else step


def _stands_instead(step: PadStep) -> bool:
    return isinstance(step, NewPad) and step.instead


def _expansion(before: Chain, after: Expansion) -> Expansion | Skip:
    """The same for an operator with others around it, of which some may be of its kind."""
    if _ends_in_zeros(after):
        return Skip("it would end in a Pad that onnxruntime may fuse into what reads it, wrongly")
    steps = list(after.steps)
    copied = Mark.COPIED_OUT in before.around.marks
    for index, written in _windows(before, after):
        node = steps[index]
        if refusal := _kernel_refusal(before, written):
            return refusal
        if _data(node) == Read(0):
            if _must_count(before, written):
                return Skip("onnxruntime up to 1.20 would fuse its Pad and count less", _TRY)
            if refusal := _refusal(before, written):
                return refusal
        elif _reads_zeros(steps, node) and (written.op.is_pool or copied):
            if not _is_bare(written):
                return Skip("onnxruntime would fuse its new Pad, wrongly")
            steps[index] = _with_valid(node, before)
    return after._replace(steps=tuple(steps))


def _ends_in_zeros(after: Expansion) -> bool:
    """Whether the result is a new Pad of a kind that onnxruntime fuses into a pool behind it."""
    last = after.steps[after.results[0].step]
    return _data(last) != Read(0) and _writes_zeros(last)


def kept_apart(steps: Sequence[Step]) -> tuple[Step, ...]:
    """New nodes in a row, their pools with auto_pad=VALID behind a Pad that writes 0."""
    found = list(steps)
    for index, step in enumerate(steps):
        written, pool = dict(step.attributes), OPERATORS.get((step.domain, step.op_type))
        pads = written.get("pads")
        bare = isinstance(pads, tuple) and not any(pads) and "ceil_mode" not in written
        if bare and pool is not None and pool.is_pool and _reads_zeros(steps, step):
            found[index] = _valid_step(step)
    return tuple(found)


def _data(node: Step | Itself) -> Operand | None:
    return node.inputs[0] if isinstance(node, Step) else dict(node.inputs).get(0, Read(0))


def _reads_zeros(steps: Sequence[Step | Itself], node: Step | Itself) -> bool:
    """Whether a node reads a new Pad that writes 0."""
    data = _data(node)
    return isinstance(data, Made) and _writes_zeros(steps[data.step])


def _with_valid(node: Step | Itself, before: Chain) -> Step | Itself:
    """The node, `before` the rewrite, with auto_pad=VALID in place of pads of 0."""
    if isinstance(node, Step):
        return _valid_step(node)
    sets = (*(one for one in node.sets if one[0] != "pads"), _VALID)
    gone = ("pads",) if "pads" in dict(before.written.attributes) else ()
    removes = dict.fromkeys((*node.removes, *gone))
    return node._replace(sets=sets, removes=tuple(name for name in removes if name != "auto_pad"))


def _valid_step(step: Step) -> Step:
    kept = tuple(one for one in step.attributes if one[0] != "pads")
    return step._replace(attributes=(*kept, _VALID))


def _windows(before: Chain, after: Expansion) -> Iterator[tuple[int, Chain]]:
    """The steps of an expansion that are the operator, or a pool in its place, as chains.

    Sizes are open, and no Pad stands in front, where one reads what a new node makes.
    """
    for index, node in enumerate(after.steps):
        op = before.op
        if isinstance(node, Step) and node.op_type != op.name:
            pool = OPERATORS.get((node.domain, node.op_type))
            if pool is None or not pool.is_pool or not op.is_pool:
                continue
            op = pool
        if isinstance(node, Step):
            written = dict(node.attributes)
        else:
            kept = {n: v for n, v in before.written.attributes if n not in node.removes}
            written = kept | dict(node.sets)
        flat, kernel = written.get("pads", Pads.zero(before.rank).flat), written.get("kernel_shape")
        if written.get("auto_pad", "NOTSET") != "NOTSET" or not isinstance(flat, tuple):
            continue
        if isinstance(kernel, tuple) and kernel != tuple(axis.kernel for axis in before.axes):
            continue
        counts = written.get("count_include_pad") == 1
        averages = Constant(0) if counts else Implicit.NOTHING
        chain = replace(
            before,
            op=op,
            padding=Pads(flat[: len(flat) // 2], flat[len(flat) // 2 :]),
            ceil_mode=written.get("ceil_mode") == 1,
            fill=averages if op.kind is Kind.AVERAGE else before.fill,
        )
        if _data(node) != Read(0):
            axes = tuple(axis._replace(size=None) for axis in before.axes)
            around = replace(before.around, nearest=None, far_pad=None)
            chain = replace(chain, axes=axes, pad=None, around=around)
        yield index, chain


def _writes_zeros(node: Step | Itself) -> bool:
    """Whether a new Pad writes 0, or may, and lists no axes, which onnxruntime leaves alone."""
    if isinstance(node, Itself) or node.op_type != "Pad":
        return False
    written = dict(node.attributes)
    value, axes = (*node.inputs[2:], None, None)[:2]
    number = value.values[0] if isinstance(value, Numbers) else written.get("value", 0)
    plain = axes is None and written.get("mode", "constant") == "constant"
    return plain and number == 0 and (value is None or isinstance(value, Numbers))


def _of_pad(before: Chain, after: Expansion) -> Expansion | Skip:
    """A Pad node itself: a pool that reads it must not suffer from how it is written."""
    step, last = before.pad, after.steps[after.results[0].step]
    if Mark.POOLS_READ_PAD not in before.around.marks or step is None:
        return after
    if is_fusable(step, before, Odds.SURE):
        return after
    if isinstance(last, Itself):
        fused = step.mode == "constant" and number_of(step.fill) in (0, None)
    else:
        fused = before.around.nearest is not None and last.op_type == "Identity"
    reason = "the way it is written keeps onnxruntime from fusing it into a pool, wrongly"
    return Skip(reason, _TRY) if fused else after
