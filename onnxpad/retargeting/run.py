"""Goes through the nodes of a model, in graph order, and moves them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from onnxpad.errors import RequestError
from onnxpad.geometry.size import show
from onnxpad.model.editing.script import Edit, edit_record
from onnxpad.model.editing.session import Session
from onnxpad.model.reading.nodes import Address
from onnxpad.model.reading.survey import Site
from onnxpad.model.shapes.types import Type
from onnxpad.model.sizes_downstream import breaks, inferred_sizes, resizings
from onnxpad.padding.around import NOTHING
from onnxpad.padding.chain import Chain, Pads, PadStep, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads, output_sizes, short_axis
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import Since
from onnxpad.reports import reported
from onnxpad.retargeting.habits import named_convention
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.move import moved, unchanged_because
from onnxpad.retargeting.plan import Plan, PlanEntry, with_settings
from onnxpad.retargeting.shields import shielded
from onnxpad.retargeting.windows_read import differs, resizes
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import judge
from onnxpad.runtimes.targets import find_target

_LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}


def infeasible(before: Chain, after: Chain) -> str:
    """Why onnxruntime would not run `after`, or '' where it would, or where sizes are not known.

    What `before` has in common with it is left to the model: a plan is refused for what it
    brings. The limits: a Pad node leaves batch and channels as they are, reflects less than the
    axis, holds a number of the element type (ONNX Operators, Pad-2 to Pad-25), and the rows of
    the target onnxruntime; every axis keeps room for one window.
    """
    if after == before:
        return ""
    found = _pad_node(before, after) if after.pad != before.pad else ""
    return found or _new(_size(after), _size(before)) or _new(_refused(after), _refused(before))


def _new(reason: str, known: str) -> str:
    return reason if reason != known else ""


def _refused(chain: Chain) -> str:
    alone = replace(
        chain, around=NOTHING
    )  # what its Pad is fused into is the pad_writer's business
    found = judge(find_target("onnxruntime"), alone)
    if found.answer is not Answer.REFUSES:
        return ""
    return f"onnxruntime would not run it: {found.reason}"


def _size(chain: Chain) -> str:
    """Axes without room for one window, before or behind the Pad node."""
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return ""
    for index, axis in enumerate(chain.axes):
        if isinstance(axis.size, int) and axis.size < 1:
            return f"pad_node crops all of axis {chain.first_axis + index} (size {axis.size})"
    if short := short_axis(chain, pads):
        return short.reason
    sizes = output_sizes(chain)
    if any(isinstance(size, int) and size < 1 for size in sizes):
        shown = "x".join(show(size) for size in sizes)
        return f"its output would be {shown}: the pads {list(pads.flat)} leave nothing of it"
    for axis, more in zip(chain.axes, chain.output_padding, strict=False):
        if more >= max(axis.stride, axis.dilation):
            return (
                f"output_padding {more} is not below stride {axis.stride} or dilation "
                f"{axis.dilation}, which onnxruntime asks for"
            )
    return ""


def _pad_node(before: Chain, after: Chain) -> str:
    step = after.pad
    known = before.pad
    if known is not None and known.unclear:
        known = None
    elif (axis := _outer_axis(before, known, step)) is not None:
        (begin, end), (had, has) = _sides(step, axis), _sides(known, axis)
        return (
            f"pad_node has pads {begin},{end} at axis {axis}, which is no spatial axis: keep the "
            f"model's {had},{has} there"
        )
    if step is None:
        return ""
    return _mode(after, step) or _value(after, step)


def _outer_axis(chain: Chain, known: PadStep | None, step: PadStep | None) -> int | None:
    """A batch or channel axis that the Pad node changes otherwise than the one that is there."""
    outer = set(range(chain.tensor_rank)) - set(range(chain.tensor_rank)[chain.spatial])
    for axis in sorted(outer):
        if _sides(known, axis) != _sides(step, axis):
            return axis
    return None


def _sides(step: PadStep | None, axis: int) -> tuple[int, int]:
    return (0, 0) if step is None else (step.pads.begins[axis], step.pads.ends[axis])


def _mode(chain: Chain, step: PadStep) -> str:
    if step.mode == "wrap" and not chain.op.domain and 0 < chain.opset < Since.PAD_WRAP:
        return f"Pad of opset {chain.opset} has no mode wrap, which came with {Since.PAD_WRAP}"
    if step.mode != "reflect":
        return ""
    spatial = Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])
    for index, axis in enumerate(axes_in_front(chain, spatial)):
        sides = spatial.begins[index], spatial.ends[index]
        if not isinstance(axis.size, int):
            continue
        left = axis.size + sum(min(0, side) for side in sides)
        if max(sides) > 0 and max(sides) >= left:
            return (
                f"pad_node reflects {max(sides)} of axis {chain.first_axis + index}, which has "
                f"size {left}: the widest reflection is {left - 1}"
            )
    return ""


def _value(chain: Chain, step: PadStep) -> str:
    if not isinstance(step.fill, Constant):
        return ""
    value, dtype = step.fill.value, chain.dtype
    if math.isinf(value) and value < 0 and (not dtype or "float" in dtype):
        return ""
    if dtype.startswith(("int", "uint")):
        bits = int(dtype.lstrip("uint"))
        low, high = (
            (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        )
        fits = math.isfinite(value) and value == int(value) and low <= value <= high
    else:
        fits = abs(value) <= _LARGEST.get(dtype, math.inf)
    return "" if fits else f"pad_node has value {value}, which {dtype} does not hold"


_TRY = "\n  try     correct the entry, or leave it out; onnxpad inspect shows what the node has now"


@dataclass(frozen=True, slots=True)
class Rule:
    """`decide` gives the chain itself where a node stays, `why` says the reason for that.

    `concerns` says which nodes there is anything to say about, `names` which must be there.
    `label` is the rule as messages call it.
    """

    name: str
    decide: Callable[[Address, Chain], Chain | Skip]
    why: Callable[[Chain], str]
    concerns: Callable[[Address], bool]
    names: tuple[str, ...] = ()
    label: str = ""


def by_convention(to: str, source: str | None) -> Rule:
    """Every node as the convention `to` would write it; RequestError for unknown names."""
    for name in (to, source):
        if name is not None:
            named_convention(name)
    target = named_convention(to)
    name = target if isinstance(target, str) else target.name
    return Rule(
        name,
        lambda _, chain: moved(chain, to, source=source),
        lambda chain: unchanged_because(chain, name),
        lambda _: True,
    )


def by_plan(plan: Plan) -> Rule:
    """Give each node the padding that the plan lists."""
    entries = {one.node: one for one in plan.entries}
    return Rule(
        "plan",
        lambda address, chain: _planned(entries[address.label], chain, plan.label),
        lambda _: "the plan says what is there",
        lambda address: address.label in entries,
        tuple(entries),
        plan.label,
    )


def _planned(entry: PlanEntry, chain: Chain, label: str) -> Chain | Skip:
    if chain.trouble:
        return Skip(chain.trouble.reason, chain.trouble.hints)
    where = f"{label}, node '{entry.node}' ({chain.op.name})"
    try:
        after = with_settings(chain, entry.settings)
    except RequestError as error:
        raise RequestError(f"{where}: {error}{_TRY}") from error
    if reason := infeasible(chain, after):
        raise RequestError(f"{where}: {reason}{_TRY}")
    return shielded(chain, after)


Sizes: TypeAlias = tuple[str, ...]


@reported("node.label as node", "node.scope as scope", "*", "script as edits")
@dataclass(frozen=True, slots=True)
class Move:
    """One node that was moved: its padding and output sizes before and after.

    `resized` says that the output has, or may have, another size, `same_values` that only the
    way of writing changed.
    """

    node: Address
    op: str
    before: str
    after: str
    output_before: Sizes
    output_after: Sizes
    resized: bool
    same_values: bool
    edits: tuple[Edit, ...]

    @property
    def script(self) -> list[dict[str, Any]]:
        """The edits as plain data."""
        return [edit_record(edit) for edit in self.edits]


@reported("node.label as node", "node.scope as scope", "*")
@dataclass(frozen=True, slots=True)
class Kept:
    """One node that pads as asked already, and why."""

    node: Address
    op: str
    padding: str
    why: str


@reported(
    "node.label as node", "node.scope as scope", "op", "skip.reason as reason", "skip.hints as try"
)
@dataclass(frozen=True, slots=True)
class Refused:
    """One node that could not be moved; `tensor` is its input, of type `source`."""

    node: Address
    op: str
    chain: Chain
    skip: Skip
    tensor: str
    source: Type


@dataclass
class Outcome:
    """Everything that was done and not done, in graph order."""

    moves: list[Move] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    breaks: tuple[str, ...] = ()


Progress = Callable[[str, int, int], None]


def run(
    session: Session,
    rule: Rule,
    selected: Callable[[Address], bool],
    progress: Progress | None = None,
) -> Outcome:
    """Move every selected node; sizes behind a node whose output changed are read anew."""
    return _Run(session, rule, selected, progress).run()


class _Run:
    def __init__(
        self,
        session: Session,
        rule: Rule,
        selected: Callable[[Address], bool],
        progress: Progress | None,
    ) -> None:
        self._session = session
        self._rule = rule
        self._selected = selected
        self._progress = progress
        self._done: set[tuple[str, int]] = set()
        self._sound: tuple[str, ...] | None = None
        self._outcome = Outcome()

    def run(self) -> Outcome:
        moved = -1
        while moved < len(self._outcome.moves):
            moved = len(self._outcome.moves)
            self._ask_again()
            while self._round():
                pass
        self._in_order()
        if self._sound is not None:
            now = breaks(self._session.document)
            self._outcome.breaks = tuple(one for one in now if one not in self._sound)
        return self._outcome

    def _ask_again(self) -> None:
        """Nodes that were refused are decided anew: what stood beside them may have moved."""
        for refused in self._outcome.refused:
            self._done.discard((refused.node.scope, refused.node.key))
        self._outcome.refused.clear()

    def _in_order(self) -> None:
        """Moves in graph order, whatever was asked twice."""
        places = {one.address.label: n for n, one in enumerate(self._session.sites())}
        self._outcome.moves.sort(key=lambda move: places.get(move.node.label, len(places)))

    def _round(self) -> bool:
        """Nodes up to one that makes another reading necessary; False at the end."""
        sites = list(self._session.sites())
        for site in sites:
            place = (site.address.scope, site.address.key)
            wanted = self._selected(site.address) and self._rule.concerns(site.address)
            if place in self._done or not wanted:
                continue
            self._done.add(place)
            if self._progress:
                self._progress(site.address.label, len(self._done) - 1, len(sites))
            if self._handle(site):
                return True
        return False

    def _handle(self, site: Site) -> bool:
        results = [self._rule.decide(site.address, chain) for chain in site.chains]
        groups = _groups(site.chains, results)
        if max(groups) > 0:
            if self._session.tell_apart(site, groups):
                self._done.discard((site.address.scope, site.address.key))
                return True
            skip = Skip(
                "the function is called in ways that need different padding, and its calls "
                "cannot be told apart"
            )
            self._refuse(site, skip)
            return False
        first = results[0]
        if isinstance(first, Skip):
            if not first.moot:
                self._refuse(site, first)
            return False
        if first == site.chain:
            shown = label_of(site.chain, None)
            kept = Kept(site.address, site.op, shown, self._rule.why(site.chain))
            self._outcome.kept.append(kept)
            return False
        return self._move(site, first)

    def _refuse(self, site: Site, skip: Skip) -> None:
        tensor = site.node.inputs[0] if site.node.inputs else ""
        self._outcome.refused.append(
            Refused(site.address, site.op, site.chain, skip, tensor, site.input_type)
        )

    def _move(self, site: Site, after: Chain) -> bool:
        """Change the node; True where sizes behind it have to be read anew."""
        session, before = self._session, site.chain
        resized = any(resizes(one, _like(one, after)) for one in site.chains)
        known = {}
        if resized:
            known = inferred_sizes(session.document)
            if self._sound is None:
                self._sound = breaks(session.document)
        edits = session.change(site, after)
        if resized:
            session.tidy(resizings(session.document, known, site.address))
        self._outcome.moves.append(
            Move(
                site.address,
                site.op,
                label_of(before, None),
                label_of(after, None),
                _shown(before),
                _shown(after),
                resized,
                not any(differs(one, _like(one, after)) for one in site.chains),
                tuple(edits),
            )
        )
        return resized


def _like(chain: Chain, after: Chain) -> Chain:
    """What the move makes of another reading of the same node."""
    return after if len(chain.axes) != len(after.axes) else replace(after, axes=_axes(chain, after))


def _axes(chain: Chain, after: Chain) -> Any:  # noqa: ANN401
    return after.axes if chain.pad != after.pad else chain.axes


def _shown(chain: Chain) -> Sizes:
    return tuple(show(size) for size in output_sizes(chain))


def _groups(chains: Sequence[Chain], results: Sequence[Chain | Skip]) -> list[int]:
    """A number for each result; readings that are left alone share one."""
    seen: list[object] = []
    groups = []
    for chain, result in zip(chains, results, strict=True):
        wanted = None
        if isinstance(result, Chain) and result != chain:
            wanted = (_written(chain), _written(result))
        if wanted not in seen:
            seen.append(wanted)
        groups.append(seen.index(wanted))
    return groups


def _written(chain: Chain) -> tuple[object, ...]:
    numbers = (chain.padding, chain.ceil_mode, chain.counts_padding)
    return (*numbers, chain.output_padding, chain.output_shape, chain.pad, chain.ambiguous)
