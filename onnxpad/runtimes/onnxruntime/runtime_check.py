"""The check of every rewrite: does the runtime that it is for still run the node right?

Asked once for every rewrite, by the pipeline and by retargeting: what the runtime computed right
before, it must compute right after, and what it computed wrongly it must still load. Without a
target the runtime is onnxruntime: where its Pad fusion would harm what is written, the rewrite is
spelled otherwise (auto_pad=VALID keeps the Pad apart), or held back, which is a Skip.
For releases up to 1.20 count_include_pad is written as well where it says nothing else.

With a target, what both run right comes first, as onnxruntime is what validates the model. For a
node with no such way, the rows of the target alone decide, and the report says what onnxruntime
makes of it. What onnxruntime does not load even without its optimisations is written for no
target: the rows of all targets were measured with models that it loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from onnxpad.padding.chain import (
    Around,
    AutoPad,
    Chain,
    InFront,
    NewPad,
    Padding,
    Pads,
    PadStep,
    PassResult,
    Skip,
    Unclear,
)
from onnxpad.padding.expansion import Expansion, Itself, Made, Numbers, Operand, Read, Step
from onnxpad.padding.fills import Constant, Fill, Implicit
from onnxpad.padding.operators import OPERATORS, Kind, Operator, PadInput
from onnxpad.runtimes.judge import newly_failing
from onnxpad.runtimes.onnxruntime.pad_fusion import (
    Way,
    harm,
    loses_count,
    may_reach_kernel,
    worse,
)
from onnxpad.runtimes.onnxruntime.reference import reference
from onnxpad.runtimes.targets import Target

_TRY = ("--pass absorb-pad",)
Saying: TypeAlias = tuple[tuple[tuple[int, int, int], ...], Operator, Padding, bool, bool]
"""What an operator says apart from its name and its tensors."""
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
    if before.op.kind is Kind.PAD:
        yield from [(before, after)] if isinstance(after, Chain) else _readers(before, after)
    elif isinstance(after, Chain):
        for other in _left_behind(before, after):
            yield _beside_another(other), other
        yield before, replace(after, around=_around(before, after))
    else:
        for index, written in _windows(before, after):
            yield before, _of_any_size(written, _data(after.steps[index]))


def _beside_another(chain: Chain) -> Chain:
    """The operator while another one still reads the Pad in front, which is not fused then."""
    front = tuple(replace(one, readers=one.readers + 1) for one in chain.around.front[:1])
    return replace(chain, around=replace(chain.around, front=(*front, *chain.around.front[1:])))


def spelled(before: Chain, after: PassResult) -> PassResult:
    """`after`, if need be with auto_pad=VALID, which keeps Pads apart; or why it cannot be."""
    if isinstance(after, Skip):
        return after
    if before.op.kind is Kind.PAD:
        return _of_pad(before, after) if isinstance(after, Expansion) else after
    if refusal := _left_alone(before, after):
        return refusal
    if isinstance(after, Expansion):
        return _expansion(before, after)
    written = replace(after, around=_around(before, after))
    if refusal := _kernel_refusal(before, written):
        return refusal
    is_new = after.pad is not None and after.pad != before.pad
    if _must_count(before, written, is_new=is_new):
        after, written = (replace(one, fill=Constant(0)) for one in (after, written))
    if is_new and _is_bare(after) and _needs_shield(written):
        return _valid(after)
    if not _is_harmed(written):
        return after
    return _refusal(before, written) if worse(before, written) else after


def _kernel_refusal(before: Chain, written: Chain) -> Skip | None:
    """What the target `onnxruntime` has against the operator as it would be, fusion aside."""
    apart = replace(written, around=replace(written.around, front=(), weight_front=()))
    rows = newly_failing(reference(), before, apart)
    return Skip(f"written like that, {rows[0].told(apart)}") if rows else None


def _left_alone(before: Chain, after: PassResult) -> Skip | None:
    """Why an operator may not stop to read its Pad, which would then be fused into another."""
    for other in _left_behind(before, after):
        found = harm(other, doubtful=True)
        if found is not None:
            article = "an" if other.op.name[0] in "AEIOU" else "a"
            role = " as its weight" if found.way is Way.WEIGHT else " too"
            return Skip(
                f"{article} {other.op.name} reads the Pad{role}; left alone with it, onnxruntime "
                "would fuse it wrongly"
            )
    return None


def _left_behind(before: Chain, after: PassResult) -> tuple[Chain, ...]:
    """What alone reads a Pad that the operator stops to read; readers that are alike count once."""
    found: tuple[Chain, ...] = ()
    if isinstance(after, Chain):
        replaced = after.pad is None or _stands_instead(after.pad)
        if before.pad is not None and replaced:
            found += before.around.beside
        if before.far_pad is not None and after.far_pad is None and after.pad is None:
            found += before.around.far_beside
    return tuple({id(one): one for one in found}.values())


def _is_harmed(chain: Chain) -> bool:
    return harm(chain, doubtful=True) is not None


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


def _must_count(before: Chain, written: Chain, *, is_new: bool) -> bool:
    """Whether count_include_pad, which says nothing without pads, is to be written as well.

    onnxruntime up to 1.20 would otherwise divide by too little, and did not before.
    """
    if not _is_bare(written) or not loses_count(written):
        return False
    return is_new or not loses_count(before)


def _refusal(before: Chain, after: Chain) -> Skip:
    """Why what the rewrite writes would not run right."""
    found = harm(after, doubtful=True)
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
    return _saying(one) == _saying(after)


def _saying(chain: Chain) -> Saying:
    windows = tuple((axis.kernel, axis.stride, axis.dilation) for axis in chain.axes)
    return windows, chain.op, chain.padding, chain.ceil_mode, chain.counts_padding


class Neighbours:
    """What readers of a Pad were written as since they were read, which their chains do not know.

    onnxruntime makes one of nodes that say the same, and the Pad in front of them then has a
    reader less, as it has where one stops to read it: what is left behind is fused with it.
    """

    def __init__(self) -> None:
        self._written: dict[tuple[tuple[str, int], Saying], Saying] = {}
        self._left: set[tuple[str, int]] = set()
        self._stayed: set[tuple[str, int]] = set()

    def admits(self, readings: Iterable[tuple[Chain, PassResult]]) -> bool:
        """Remember what is to be written of a node in each of its readings.

        False where it has to be read anew: a neighbour that was not like it says by now what it
        will say, or one of both stopped to read the Pad.
        """
        moves = [one for pair in readings for one in _moves(*pair)]
        left = {key for key, said, _ in moves if said is None}
        stayed = {key for key, said, _ in moves if said is not None}
        if not self._stayed.isdisjoint(left) or not self._left.isdisjoint(stayed):
            return False
        says = {(key, said): saying for key, said, saying in moves if said is not None}
        if any(self._written.get(one, saying) != saying for one, saying in says.items()):
            return False
        self._left |= left
        self._stayed |= stayed
        self._written |= says
        return True


def _moves(
    before: Chain, after: PassResult
) -> Iterator[tuple[tuple[str, int], Saying | None, Saying]]:
    """Pads with other readers as well: what behind each said before, and says now.

    None stands for what stopped to read the Pad.
    """
    shared = [one.key for one in before.around.front if one.readers > 1]
    if not shared or isinstance(after, Skip):
        return
    stayed, saying = set(shared), _saying(before)
    if isinstance(after, Chain):
        stayed &= {one.key for one in _around(before, after).front}
    for said in _sayings(before, after):
        for key in shared:
            yield key, said if key in stayed else None, saying


def _sayings(before: Chain, after: PassResult) -> Iterator[Saying]:
    """What the operator says that reads what it read."""
    if isinstance(after, Chain):
        yield _saying(after)
    elif isinstance(after, Expansion):
        for index, one in _windows(before, after):
            if _data(after.steps[index]) == Read(0):
                yield _saying(one)


def _with_equal_ones(entry: InFront) -> InFront:
    """The Pad when what reads it makes no result: onnxruntime makes one of equal readers."""
    return replace(entry, readers=entry.readers - entry.equal_results, equal_results=0)


def _with_readers_less(front: tuple[InFront, ...], equals: int) -> tuple[InFront, ...]:
    return tuple(replace(one, readers=max(1, one.readers - equals)) for one in front)


def _expansion(before: Chain, after: Expansion) -> Expansion | Skip:
    """The same for an operator with others around it, of which some may be of its kind."""
    if _ends_in_zeros(after):
        return Skip("it would end in a Pad that onnxruntime may fuse into what reads it, wrongly")
    steps = list(after.steps)
    for index, written in _windows(before, after):
        node = after.steps[index]
        if refusal := _kernel_refusal(before, _of_any_size(written, _data(node))):
            return refusal
        computed = _reads_computed_zeros(after, node)
        if computed and may_reach_kernel(before):
            return Skip(
                "onnxruntime would fuse the Pad beyond the kernel as soon as the size is fixed"
            )
        is_new = _data(node) != Read(0)
        if _must_count(before, _behind_zeros(written) if computed else written, is_new=is_new):
            steps[index] = node = _counting(node)
        if is_new and _is_bare(written) and _needs_shield(written):
            steps[index] = _shielded(before, node)
        elif _is_harmed(written) and worse(before, written):
            return _refusal(before, written)
    return after._replace(steps=tuple(steps))


def _ends_in_zeros(after: Expansion) -> bool:
    """Whether the result is a new Pad of a kind that onnxruntime fuses into a pool behind it."""
    last = after.steps[after.results[0].step]
    if not isinstance(last, Step) or last.op_type != "Pad" or last.inputs[0] == Read(0):
        return False
    found = _new_step(last.inputs[1:], dict(last.attributes))
    return found is not None and found.fill == Constant(0) and found.mode == "constant"


def _reads_computed_zeros(after: Expansion, node: Step | Itself) -> bool:
    """Whether it reads a new Pad that writes 0 over all axes, by pads that are computed."""
    data = _data(node)
    step = after.steps[data.step] if isinstance(data, Made) else None
    if not isinstance(step, Step) or step.op_type != "Pad":
        return False
    pads, *more = step.inputs[1:] or (None,)
    return isinstance(pads, Made) and not any(more)


def _behind_zeros(chain: Chain) -> Chain:
    """The operator behind a Pad by computed pads, of which onnxruntime may know the numbers."""
    unclear = Unclear("its pads are computed")
    pad = PadStep(Pads.zero(chain.tensor_rank), Constant(0), unclear=unclear, computed=(1,))
    return replace(chain, around=replace(chain.around, front=(InFront(pad),)))


def _windows(before: Chain, after: Expansion) -> Iterator[tuple[int, Chain]]:
    """The steps of an expansion that are the operator, or a pool in its place, as chains."""
    results = {one.step for one in after.results}
    for index, node in enumerate(after.steps):
        written = _with(before, after, node)
        if written is None:
            continue
        if index not in results:
            front = tuple(_with_equal_ones(one) for one in written.around.front)
            written = replace(written, around=replace(written.around, front=front))
        yield index, written


def _of_any_size(chain: Chain, data: Operand | None) -> Chain:
    """The chain with sizes left open where it reads what a new node makes."""
    if data == Read(0):
        return chain
    return replace(chain, axes=tuple(axis._replace(size=None) for axis in chain.axes))


def _valid(chain: Chain) -> Chain:
    return replace(chain, padding=AutoPad.VALID)


def kept_apart(steps: Sequence[Step]) -> tuple[Step, ...]:
    """New nodes in a row, their pools with auto_pad=VALID behind a Pad that writes 0."""
    found = list(steps)
    for index, step in enumerate(steps):
        written, front = dict(step.attributes), steps[index - 1] if index else None
        pool = OPERATORS.get((step.domain, step.op_type))
        if front is None or front.op_type != "Pad" or pool is None or not pool.is_pool:
            continue
        pad = _new_step(front.inputs[1:], dict(front.attributes))
        pads = written.get("pads")
        bare = isinstance(pads, tuple) and not any(pads) and "ceil_mode" not in written
        if bare and pad is not None and pad.fill == Constant(0) and pad.mode == "constant":
            found[index] = _with_valid(step)
    return tuple(found)


def _data(node: Step | Itself) -> Operand | None:
    return node.inputs[0] if isinstance(node, Step) else dict(node.inputs).get(0, Read(0))


def _shielded(before: Chain, node: Step | Itself) -> Step | Itself:
    """The node with auto_pad=VALID in place of pads of 0."""
    if isinstance(node, Step):
        return _with_valid(node)
    kept = tuple((name, value) for name, value in node.sets if name != "pads")
    sets = (*kept, ("auto_pad", str(AutoPad.VALID)))
    gone = ("pads",) if "pads" in dict(before.attributes) else ()
    return node._replace(sets=sets, removes=tuple(dict.fromkeys((*node.removes, *gone))))


def _counting(node: Step | Itself) -> Step | Itself:
    """The node with count_include_pad=1."""
    if isinstance(node, Step):
        ahead = tuple(one for one in node.attributes if one[0] != "pads")
        return node._replace(attributes=(*ahead, _COUNTS, *node.attributes[len(ahead) :]))
    removes = tuple(name for name in node.removes if name != _COUNTS[0])
    return node._replace(sets=(_COUNTS, *node.sets), removes=removes)


def _with_valid(step: Step) -> Step:
    kept = tuple((name, value) for name, value in step.attributes if name != "pads")
    return step._replace(attributes=(*kept, ("auto_pad", str(AutoPad.VALID))))


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
    if any(worse(*pair) for pair in _readers(before, after)):
        return Skip(_what_keeps(before.pad), _TRY)
    return after


def _readers(before: Chain, after: Expansion) -> Iterator[tuple[Chain, Chain]]:
    """What reads a Pad node, as it is and as it would be."""
    for reader in before.around.behind:
        front = reader.around.front
        spots = [spot for spot, one in enumerate(front) if one.key == before.around.key]
        if not spots:
            continue
        spot = spots[0]
        row = (*front[:spot], *_instead(before, after, front[spot]))
        row += front[spot + 1 :] if _reads_on(after) else ()
        yield reader, replace(reader, around=replace(reader.around, front=row))


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
    index, step = after.itself, before.pad
    if index is None or step is None or not after.results or after.results[0].step != index:
        return ()
    node = after.steps[index]
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
    listed = tuple(position for position in step.listed if position not in inputs)
    new = replace(step, pads=pads, computed=(), listed=listed)
    return (replace(entry, pad=new, at_run_time=False),)


def _reads_on(after: Expansion) -> bool:
    """Whether what stands in the place of the Pad, if only an Identity, reads what it read."""
    index = after.itself
    node = after.steps[after.results[0].step if index is None else index]
    if isinstance(node, Itself):
        return dict(node.inputs).get(0, Read(0)) == Read(0)
    return node.op_type == "Identity" and node.inputs == (Read(0),)
