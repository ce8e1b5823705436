"""Runs passes over the chains of a document, in graph order, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from onnxpad.chain import Chain, Skip
from onnxpad.errors import InternalError
from onnxpad.forms import forms_of
from onnxpad.graph.edits import Address, Edit
from onnxpad.graph.session import Session, Site
from onnxpad.passes import Pass

MAX_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One node that a pass rewrote: its chain before and after, and the edits."""

    rule: str
    node: Address
    op: str
    before: Chain
    after: Chain
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One node that a pass left as it was although it might have matched."""

    rule: str
    node: Address
    op: str
    chain: Chain
    skip: Skip


@dataclass
class Outcome:
    """Everything that the passes did and did not do, in order."""

    changes: list[Change] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


def run(
    session: Session,
    passes: Sequence[Pass],
    selected: Callable[[Address], bool],
    progress: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """Apply `passes` in the given order to the nodes for which `selected` holds."""
    outcome = Outcome()
    for number, rule in enumerate(passes):
        if progress:
            progress(rule.name, number, len(passes))
        _run_pass(session, rule, selected, outcome)
    return outcome


def _run_pass(
    session: Session, rule: Pass, selected: Callable[[Address], bool], outcome: Outcome
) -> None:
    for _ in range(MAX_ROUNDS):
        refusals: list[Refusal] = []
        changed = False
        for site in session.sites():
            if not selected(site.address):
                continue
            verdict = _decide(session, rule, site)
            if isinstance(verdict, Change):
                outcome.changes.append(verdict)
                changed = True
            elif verdict is not None:
                refusals.append(verdict)
        if not changed:
            outcome.refusals += refusals
            return
        session.read_again()
    raise InternalError(f"pass {rule.name} does not come to an end")


def _decide(session: Session, rule: Pass, site: Site) -> Change | Refusal | None:
    results = [_rewrite(session, rule, chain, site) for chain in site.chains]
    first = results[0]
    if any(result != first for result in results):
        differing = [result for result in results if isinstance(result, Skip)]
        reason = differing[0].reason if differing else "its calls need different padding"
        skip = Skip(f"the function is called in ways that ask for different results: {reason}")
        return Refusal(rule.name, site.address, site.op, site.chains[0], skip)
    if isinstance(first, Skip):
        return None if first.moot else Refusal(rule.name, site.address, site.op, site.chain, first)
    edits = tuple(session.change(site, first))
    return Change(rule.name, site.address, site.op, site.chain, first, edits)


def _rewrite(session: Session, rule: Pass, chain: Chain, site: Site) -> Chain | Skip:
    after = session.remembered(rule.name, chain, lambda: rule.rewrite(chain))
    if isinstance(after, Chain) and not after.trouble:
        added = forms_of(after) - forms_of(chain) - rule.adds
        if added:
            forms = ", ".join(sorted(added))
            raise InternalError(
                f"pass {rule.name} added {forms} to {site.address.label}, which it does not declare"
            )
    return after


