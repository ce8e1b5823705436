"""inspect: each padded node, its effective pads, their form, and the traps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from onnxpad import processes
from onnxpad.errors import ModelError
from onnxpad.frameworks.fits import fits
from onnxpad.geometry.size import plain_sizes
from onnxpad.model.facts import ModelFacts, facts_of, kinds_that_cannot_pad
from onnxpad.model.files.external import refuse_lost_data
from onnxpad.model.graph.broken import (
    refuse_broken,
    title_of,
    undefined_operators,
    unknown_operators,
)
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Address
from onnxpad.model.opened import ModelLike, Opened, named_copy, open_model
from onnxpad.model.reading.as_written import as_written
from onnxpad.model.reading.divisors import hanging_on_sizes, settling_facts
from onnxpad.model.reading.survey import Site, Survey, selection
from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import Chain, Pads, Preference, Preferences, Skip
from onnxpad.padding.effective_pads import effective_pads, facts_text, rests_text
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form, forms_of
from onnxpad.padding.operators import Kind
from onnxpad.reports import Report, plain, reported
from onnxpad.runtimes.own_targets import Asking, TargetName, live_words, target_names
from onnxpad.runtimes.traps import Trap, of_another, traps_of
from onnxpad.verbs import verb

if TYPE_CHECKING:
    from onnxpad.model.editing.session import EditSession
    from onnxpad.probing.live import Live, RuntimeRan
    from onnxpad.rewriting.for_target.fit import Fitted
    from onnxpad.rewriting.for_target.report import NodeVerdict, Opening
    from onnxpad.rewriting.wanted import Wanted
    from onnxpad.runtimes.installed import OnInstalled

__all__ = ["Inspection", "PaddedNode", "inspect"]


def with_far_pad(chain: Chain) -> Chain:
    """The chain with its far Pad as `pad`, if it has one and no nearer Pad.

    Such a Pad stands before a Transpose or a DequantizeLinear that feeds the operator.
    """
    far = chain.around.far_pad
    if chain.pad is not None or far is None or far.unclear or not any(far.pads.flat):
        return chain
    return replace(chain, pad=far)


def _pads(chain: Chain) -> Pads | Skip:
    step = chain.pad
    if step is None or not (chain.reads or chain.op.kind is Kind.PAD):
        return effective_pads(chain)
    return step.unclear.as_skip() if step.unclear else step.pads


def _forms(chain: Chain, written: AsWritten) -> frozenset[Form]:
    """The forms, an auto_pad that cannot be read among them."""
    says = chain.trouble and chain.op.auto_pad and written.auto_pad not in ("", "NOTSET")
    return forms_of(chain) | {Form.AUTO_PAD} if says else forms_of(chain)


def placed(
    opened: Opened,
    sites: Iterable[Site],
    selected: Callable[[Address], bool],
    device: Literal["cpu", "cuda"],
) -> dict[str, str]:
    """The provider of each padded node that onnxruntime assigned, by the node's label.

    Nodes of bodies and functions are found where their names are unique. Raises ModelError where
    onnxruntime refuses the model and RuntimeUnavailable where there is no such device.
    """
    from onnxpad.sessions import RunFailure, Settings, assignments

    wanted = [site for site in sites if selected(site.address)]
    keys = {site.address.key: f"onnxpad/{site.address.key}" for site in wanted if _is_main(site)}
    model, folder = named_copy(opened, keys)
    if opened.source is None:
        refuse_lost_data(opened.model, folder)
    found = assignments(model, Settings(device=device, folder=folder))
    if isinstance(found, RunFailure):
        raise ModelError(f"onnxruntime does not open it on {device}: {found.reason}")
    providers = {
        site.address.label: found.get(
            keys[site.address.key] if _is_main(site) else site.node.name, ""
        )
        for site in wanted
    }
    return {label: provider for label, provider in providers.items() if provider}


def _is_main(site: Site) -> bool:
    return site.address.scope == ""


_Record: TypeAlias = "tuple[PaddedNode, Chain]"
Plain: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...]
Sizes: TypeAlias = tuple[int | str | None, ...] | None


@reported("*", "hints as try")
class PaddedNode(NamedTuple):
    """A node that pads, or can pad.

    `node` is its address: scopes and name. `scope` is the id of the graph or function that it
    lives in ('' for the main graph); a node of a function that is written out is called by its
    call and its own name.
    Sizes are numbers, names, or None where nothing is known; a shape is None where not even the
    rank is. `pads` are begins, then ends, in cells: over the spatial axes, over all axes for Pad
    nodes; None where `reason` says why they cannot be known and `hints` what to try.
    """

    node: str
    scope: str
    op: str
    opset: int
    dtype: str
    input: str
    input_shape: Sizes
    output_shape: Sizes
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    written: Mapping[str, Plain]
    pads: tuple[int, ...] | None
    reason: str
    hints: tuple[str, ...]
    forms: tuple[str, ...]
    conventions: tuple[str, ...]
    traps: tuple[Trap, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data.

        Each trap names the passes that take a node out of it, where they can.
        """
        found: dict[str, Any] = plain(self)
        return found


def is_worth_a_row(node: PaddedNode) -> bool:
    """Whether there is more to say of it than that it can pad."""
    return bool(node.forms or node.traps or node.pads is None or any(node.pads))


class Finding(NamedTuple):
    """Something that a check may fail for, at a node.

    `kind` is 'trap', 'off-device' (the node leaves the GPU that was asked for), or what a target
    does with the node: 'unknown', 'refused' or 'wrong'. `code` names it for good: the trap, or
    'opencv:wrong'. With `node`, its address, it stays the same as long as nothing about it changes.
    """

    kind: str
    code: str
    node: str
    op: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The finding as it stands in the JSON of the report."""
        found: dict[str, Any] = plain(self)
        return found


KINDS = {
    "falls back": "fallback",
    "unknown": "unknown",
    "refuses": "refused",
    "miscomputes": "wrong",
}
"""What a target's answer is called as a finding, the mildest first."""
OFF_DEVICE, TRAP, FALLBACK = "off-device", "trap", "fallback"


def finding_of(target: str, verdict: NodeVerdict) -> Finding | None:
    """What a target does with a node as a finding; None where it takes the node."""
    found = verdict.judgement
    if found.answer not in KINDS:
        return None
    kind = KINDS[found.answer]
    settled = f"; {facts_text(verdict.facts)} settles it" if verdict.facts else ""
    reason = f"{found.why}{settled}"
    return Finding(kind, f"{target}:{kind}", verdict.node.label, verdict.op, reason)


@reported(
    *("model", "summary", "assumed", "recorded", "nodes", "targets", "target_notes"),
    *("unmeasured", "installed", "openings", "placement", "limits_met", "findings", "not_judged"),
    "ran",
)
@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Report):
    """Every padded node of a model in graph order.

    assumed: the sizes that the user stated; `recorded` is what the file says of them beside its
        types: an edited model is right there alone.
    targets: what each target that was asked for does with every node.
    openings: what a rewrite for a target could be told about nodes for which there is no way.
    placement: the onnxruntime provider of each node, where a `device` was asked for.
    limits_met: what of native code was ended at its limit of time or memory.
    unmeasured: what is not known of releases that were asked for.
    installed: where none was, what the installed one does otherwise than the newest.
    model: what the file says of itself.
    not_judged: kinds of operators that targets were not asked about, since they cannot pad.
    ambiguous: which of auto_pad and pads the user follows.
    ran: the runtimes that were asked, by target; `live` are the words of the command line for that.
    chains: what was read of each node, for pictures.
    """

    nodes: tuple[PaddedNode, ...]
    assumed: Mapping[str, int | str]
    targets: Mapping[str, tuple[NodeVerdict, ...]] = field(default_factory=dict)
    placement: Mapping[str, str] = field(default_factory=dict)
    device: str = ""
    openings: Mapping[str, Opening] = field(default_factory=dict)
    limits_met: tuple[str, ...] = ()
    model: ModelFacts = field(default_factory=ModelFacts)
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    installed: Mapping[str, OnInstalled] = field(default_factory=dict)
    chains: tuple[Chain, ...] = ()
    not_judged: tuple[str, ...] = ()
    recorded: Mapping[str, int | str] = field(default_factory=dict)
    ambiguous: Preference = None
    ran: Mapping[str, RuntimeRan] = field(default_factory=dict)
    live: str = ""

    schema = 5

    @property
    def target_notes(self) -> dict[str, str]:
        """What is worth a word about the release of a target: `unmeasured` and `installed`."""
        said = {name: one.note for name, one in self.installed.items()}
        return {**self.unmeasured, **said}

    @property
    def summary(self) -> dict[str, Any]:
        """Counts: nodes, those that pad, unevenly or by an unknown amount; traps; forms."""
        forms = [form for node in self.nodes for form in node.forms]
        return {
            "nodes": len(self.nodes),
            "padding": sum(1 for node in self.nodes if any(node.pads or ())),
            "asymmetric": sum(1 for node in self.nodes if _is_uneven(node.pads or ())),
            "unknown": sum(1 for node in self.nodes if node.pads is None),
            "traps": sum(len(node.traps) for node in self.nodes),
            "forms": {str(form): forms.count(form) for form in Form},
        }

    @property
    def off_device(self) -> dict[str, str]:
        """Padded nodes that leave the GPU that was asked for, with where they run."""
        gone = self.placement.items() if self.device == "cuda" else ()
        return {label: provider for label, provider in gone if not provider.startswith("CUDA")}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Traps, what targets do not take, and nodes that leave the GPU, each once at a node."""
        return tuple(dict.fromkeys(self._findings()))

    def _findings(self) -> Iterator[Finding]:
        for node in self.nodes:
            for trap in node.traps:
                yield Finding(TRAP, trap.code, node.node, node.op, trap.sentence)
        for target, verdicts in self.targets.items():
            yield from filter(None, (finding_of(target, verdict) for verdict in verdicts))
        ops = {node.node: node.op for node in self.nodes}
        for label, provider in self.off_device.items():
            reason = f"onnxruntime runs it with {provider}"
            yield Finding(
                OFF_DEVICE, f"{self.device}:{OFF_DEVICE}", label, ops.get(label, ""), reason
            )

    @property
    def fails(self) -> bool:
        """Whether a target refuses a node or computes it wrongly, or one leaves the GPU."""
        found = (verdict for verdicts in self.targets.values() for verdict in verdicts)
        return bool(self.off_device) or any(verdict.judgement.answer.fails for verdict in found)


def _is_uneven(pads: tuple[int, ...]) -> bool:
    return pads[: len(pads) // 2] != pads[len(pads) // 2 :]


_WRITTEN = (
    "auto_pad",
    "pads",
    "ceil_mode",
    "count_include_pad",
    "output_padding",
    "output_shape",
    "padding_mode",
)


@verb(device=(lambda value: value in ("cpu", "cuda"), "'cpu' or 'cuda'"))
def inspect(  # noqa: PLR0913 - each option is one word of the command line
    model: ModelLike,
    *,
    dims: Mapping[str, int | str] | None = None,
    nodes: str | Sequence[str] | None = None,
    ambiguous: Preference = None,
    target: TargetName | Sequence[TargetName] | None = None,
    live: bool | str | PathLike[str] = False,
    cache: bool = True,
    device: Literal["cpu", "cuda"] | None = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Inspection:
    """List the padded nodes of a model; nothing is changed, and without `live` nothing is run.

    `dims` says what is known of dimensions ({'height': 640, 'width': '%32=0'}), `nodes` are globs
    over node addresses, `ambiguous` says which of auto_pad and pads holds where a node has both.
    `target` are runtimes, 'all' for all of them: the report then says of every node what each does
    with it, how that is known, and what a rewrite would do. A runtime may be the user's own: the
    path of a .py or .toml file, a command with {model} {inputs} {outputs}, or a function. `live`
    asks the runtime itself, in this Python or in the one at a path: each distinct padded node is
    cut out and run; without `cache` no earlier answers are read or kept. `device` opens the model
    with onnxruntime and says which provider runs each node. `timeout` (seconds) and `memory`
    (bytes, or '4G') limit shape inference, and opening the model, which raises LimitMet there.
    Raises RequestError, ModelError where it cannot be read or opened, and RuntimeUnavailable.
    """
    asked_targets = [] if target is None else target_names(target)
    names = [] if target is None else _named(asked_targets)
    with ExitStack() as stack:
        asking = Asking(live, cache, timeout, progress, skips_missing="all" in asked_targets)
        runtimes = None
        if names or live:
            from onnxpad.rewriting.for_target.requests import runtimes_asked

            runtimes = runtimes_asked(stack, names or None, asking)
        work = stack.enter_context(processes.limited(timeout, memory))
        opened = replace(open_model(model), owned=False)
        prefer = Preferences(ambiguous)
        fits_of, targets = dict[str, Any](), dict[str, Any]()
        if names:
            from onnxpad.model.editing.session import session_on
            from onnxpad.rewriting.for_target.requests import ByTarget

            survey: Survey = (session := session_on(opened, dims, prefer))
            wanted = partial(_wanted, opened, prefer, nodes, runtimes)
            fits_of = dict(_fits(session, wanted, names, dims or {}))
            targets = ByTarget({name: fit.first for name, fit in fits_of.items()})
        else:
            survey = Survey(
                opened.model,
                dims=dims,
                folder=opened.folder,
                prefer=prefer,
                keeps_functions=opened.keeps_functions,
            )
            refuse_broken(survey.document)
        selected = selection(survey, nodes)
        records = _records(survey, selected)
        placement = placed(opened, survey.sites_now(), selected, device) if device else {}
        return Inspection(
            tuple(node for node, _ in records),
            dict(dims or {}),
            targets,
            placement,
            device or "",
            {name: fit.opening for name, fit in fits_of.items()},
            tuple(work.met.values()),
            facts_of(opened.model)._replace(unknown_operators=unknown_operators(survey.document)),
            {name: fit.unmeasured for name, fit in fits_of.items() if fit.unmeasured},
            {name: fit.installed[0] for name, fit in fits_of.items() if fit.installed},
            tuple(chain for _, chain in records),
            _not_judged(survey, list(targets.values())),
            survey.recorded,
            ambiguous,
            runtimes.ran if runtimes else {},
            live_words(live),
        )


def _not_judged(survey: Survey, targets: Sequence[Sequence[NodeVerdict]]) -> tuple[str, ...]:
    """The kinds of operators that some target was not asked about."""
    if not targets:
        return ()
    judged = set.intersection(*({verdict.op for verdict in found} for found in targets))
    undefined = {title_of(node) for _, node in undefined_operators(survey.document)}
    told = {title.rpartition(".")[2] for title in judged & undefined}
    return tuple(k for k in kinds_that_cannot_pad(survey.document.model) if k not in told)


def inspected_status(record: Mapping[str, Any], *, fails: bool, knows: bool = False) -> str:
    """The word for a report whose findings fail a model or not; `knows`: a baseline has some."""
    if fails or knows:
        return "failing" if fails else "with known findings"
    asked = record["targets"]
    if any(one["verdict"] == "unknown" for told in asked.values() for one in told):
        return "not known"
    codes = {trap["code"] for node in record["nodes"] for trap in node["traps"]}
    return "fine" if all(of_another(code, asked) for code in codes) else "with traps"


def _named(targets: Sequence[TargetName]) -> list[str]:
    """The targets' own names, each once; RequestError for one that does not exist, and for none."""
    from onnxpad.runtimes.targets import ALL, all_targets, find_targets

    if ALL in targets:
        return list(all_targets())
    found = find_targets(targets)
    return [one.name for one in found.parts or (found,)]


def _records(survey: Survey, selected: Callable[[Address], bool]) -> list[_Record]:
    """One for each node, with its chain; nodes that compute the same share one."""
    known: dict[tuple[int, AsWritten], dict[str, Any]] = {}
    records: list[_Record] = []
    for site in (*survey.sites_now(), *survey.compounds()):
        if selected(site.address):
            written = as_written(site.context, site.node, site.chain)
            key = (id(site.chain), written)
            if key not in known:
                known[key] = _facts(site.chain, written)
            node = PaddedNode(
                node=site.address.label,
                scope=site.address.scope,
                input=site.tensor,
                input_shape=plain_sizes(site.input_type.dims),
                written=_written(site),
                **known[key],
            )
            records.append((node, site.chain))
    facts = settling_facts(survey) if any(map(_hangs_on_sizes, records)) else ()
    if not facts:
        return records
    settling = rests_text(facts)
    return [
        (one[0]._replace(hints=(*one[0].hints, settling)), one[1]) if _hangs_on_sizes(one) else one
        for one in records
    ]


def _hangs_on_sizes(record: _Record) -> bool:
    node, chain = record
    return node.pads is None and hanging_on_sizes(chain)


def _facts(chain: Chain, written: AsWritten) -> dict[str, Any]:
    """What of the record of a node follows from its chain and its surroundings alone."""
    pads, forms = _pads(chain), _forms(with_far_pad(chain), written)
    reason, hints = (pads.reason, pads.hints) if isinstance(pads, Skip) else ("", ())
    return {
        "op": chain.op.title,
        "opset": chain.opset,
        "dtype": chain.dtype,
        "output_shape": plain_sizes(written.output_shape),
        "kernel": tuple(axis.kernel for axis in chain.axes),
        "strides": tuple(axis.stride for axis in chain.axes),
        "dilations": tuple(axis.dilation for axis in chain.axes),
        "pads": None if isinstance(pads, Skip) else pads.flat,
        "reason": reason,
        "hints": hints,
        "forms": tuple(str(form) for form in Form if form in forms),
        "conventions": fits(with_far_pad(chain)),
        "traps": traps_of(chain, written),
    }


FOLLOWED = 3
"""Targets at most for which it is tried what brings nodes onto the device, and told what to do."""


def _wanted(
    opened: Opened,
    reading: Preferences,
    nodes: str | Sequence[str] | None,
    live: Live | None,
    target: str,
    *,
    require_device: bool = False,
) -> Wanted:
    """A rewrite for a target, as a user would ask for it."""
    from onnxpad.rewriting.for_target.requests import planner
    from onnxpad.rewriting.wanted import Wanted

    asked = planner([target], require_device=require_device, live=live)
    return Wanted(opened, (), asked, reading, nodes)


def _fits(
    session: EditSession,
    wanted: Callable[..., Wanted],
    names: Sequence[str],
    dims: Mapping[str, int | str],
) -> Iterator[tuple[str, Fitted]]:
    """For each target a rewrite, with its verdicts before, and what helps where there is no way."""
    for name in names:
        request = wanted(name)
        done = request.done(dims, session=session.fork())
        fitting = request.opened_up(done, dims, session).fitting
        if fitting is None:  # of no target alone
            continue
        verdicts, opening = fitting.before, fitting.opening
        if not opening.facts:
            opening = opening._replace(left=fitting.left, writes=fitting.writes)
        if len(names) <= FOLLOWED and any(map(_falls_back, verdicts)):
            tried = wanted(name, require_device=True).tried({**dims, **opening.dims})
            left = {one.node for one in (tried.unfit if tried else verdicts)}
            verdicts = tuple(
                replace(v, on_device=v.node not in left) if _falls_back(v) else v for v in verdicts
            )
        yield name, fitting._replace(first=opening.told_to(verdicts), opening=opening)


def _falls_back(verdict: NodeVerdict) -> bool:
    return KINDS.get(verdict.judgement.answer) == FALLBACK


def _written(site: Site) -> dict[str, Plain]:
    """What of the padding stands in the file, in its own words."""
    context, chain = site.context, site.chain
    attributes = context.attributes(site.node)
    found: dict[str, Plain] = {}
    for name in _WRITTEN:
        if (value := attributes.get(name)) is not None:
            found[name] = value
    if chain.pad is not None and (chain.reads or chain.op.kind is Kind.PAD):
        found["mode"] = chain.pad.mode
        if chain.pad.mode in ("constant", "context"):
            fill = chain.pad.fill
            found["value"] = fill.value if isinstance(fill, Constant) else str(fill)
        for name, position in (("pads", 1), ("axes", 3)) * (not chain.reads):
            inputs = site.node.inputs[position : position + 1]
            if inputs and inputs[0]:
                found[name] = constant_integers(context, inputs[0]) or f"'{inputs[0]}'"
    crossed = with_far_pad(chain).pad
    if crossed is not None and crossed.crossed:
        found["pad_through"] = ", ".join(crossed.crossed)
    return found
