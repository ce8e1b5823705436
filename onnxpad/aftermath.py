"""What passes come to that ran one after the other: skips that still hold, changes undone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from onnxpad.chain import Chain
from onnxpad.forms import forms_of
from onnxpad.graph.editing.edits import RemoveAttribute, SetAttribute
from onnxpad.graph.editing.session import Session
from onnxpad.graph.reading.ordering import Address
from onnxpad.passes import Pass, find_pass
from onnxpad.pipeline import Change, Outcome, Refusal, written


class Undone(NamedTuple):
    """A node that passes changed and that is written in the end as it was, and those passes.

    `form` is one that the first of them took away ('' where it had none to take), `edits` the
    number of all edits.
    """

    node: Address
    op: str
    rules: tuple[str, ...]
    form: str
    edits: int


def standing(session: Session, passes: Sequence[Pass], outcome: Outcome) -> list[Refusal]:
    """Refusals that still hold when the last pass is through.

    One goes where later changes took from the node every form that its pass removes, where the
    pass ran again, and a note where its node is no longer what it was about.
    """
    last = {rule.name: number for number, rule in enumerate(passes)}
    kept = []
    chains: dict[tuple[str, int], tuple[Chain, ...]] | None = None
    for number, rule in enumerate(passes):
        begins, ends = outcome.starts[number], outcome.starts[number + 1]
        again, later = last[rule.name] > number, len(outcome.changes) > ends.changes
        for refusal in outcome.refusals[begins.refusals : ends.refusals]:
            if later and chains is None:
                chains = {_key(site.address): site.chains for site in session.sites()}
            now = None if chains is None else chains.get(_key(refusal.node))
            if not again and not (later and now and _settled(refusal, rule, now)):
                kept.append(refusal)
    return kept


def _settled(refusal: Refusal, rule: Pass, now: Sequence[Chain]) -> bool:
    if refusal.skip.noted:
        return refusal.chain not in now
    wanted = forms_of(refusal.chain) & rule.removes
    return bool(wanted) and not any(forms_of(chain) & wanted for chain in now)


def undone(changes: Iterable[Change]) -> tuple[Undone, ...]:
    """Nodes of which every change edited attributes in place, and the last took the first back."""
    found: dict[tuple[str, int], list[Change]] = {}
    for change in changes:
        found.setdefault(_key(change.node), []).append(change)
    return tuple(
        Undone(
            steps[0].node,
            steps[0].op,
            tuple(dict.fromkeys(step.rule for step in steps)),
            min(forms_of(steps[0].before) & find_pass(steps[0].rule).removes, default=""),
            sum(len(step.edits) for step in steps),
        )
        for steps in found.values()
        if _is_undone(steps)
    )


def _is_undone(steps: Sequence[Change]) -> bool:
    first, last = steps[0].before, steps[-1].after
    edits = [edit for step in steps for edit in step.edits]
    if not all(isinstance(edit, SetAttribute | RemoveAttribute) for edit in edits):
        return False
    if first.ambiguous or first.trouble or not isinstance(last, Chain):
        return False
    return written(first) == written(last)


def _key(address: Address) -> tuple[str, int]:
    return address.scope, address.key
