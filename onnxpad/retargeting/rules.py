"""What is asked of each node: the padding of a convention, or what a plan lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onnxpad.errors import RequestError
from onnxpad.model.graph.nodes import Address
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.feasible import infeasible
from onnxpad.retargeting.habits import named_convention
from onnxpad.retargeting.lone_pads import as_windows
from onnxpad.retargeting.move import as_it_runs, moved, unchanged_because
from onnxpad.retargeting.plan import Plan, PlanEntry, with_settings

_TRY = "\n  try     correct the entry, or leave it out; onnxpad inspect shows what the node has now"
_LONE_PAD = (
    "the entry of a Pad node holds 'pad_node' alone, with pads, value and mode; a Pad in front of "
    "a convolution or pool belongs into the entry of that operator"
)


@dataclass(frozen=True, slots=True)
class MoveRule:
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


def by_convention(to: str, source: str | None) -> MoveRule:
    """Every node as the convention `to` would write it; RequestError for unknown names."""
    name = named_convention(to)
    if source is not None:
        named_convention(source)
    return MoveRule(
        name,
        lambda _, chain: moved(chain, to, source=source),
        lambda chain: unchanged_because(chain, name),
        lambda _: True,
    )


def by_plan(plan: Plan) -> MoveRule:
    """Give each node the padding that the plan lists."""
    entries = {one.node: one for one in plan.entries}
    return MoveRule(
        "plan",
        lambda address, chain: _planned(entries[address.label], chain, plan.label),
        lambda _: "the plan says what is there",
        lambda address: address.label in entries,
        tuple(entries),
        plan.label,
    )


def _planned(entry: PlanEntry, chain: Chain, label: str) -> Chain | Skip:
    if chain.trouble:
        return chain.trouble.as_skip()
    where = f"{label}, node '{entry.node}' ({chain.op.name})"
    if chain.op.kind is Kind.PAD:
        if [*entry.settings] != ["pad_node"] or entry.settings["pad_node"] is None:
            raise RequestError(f"{where}: {_LONE_PAD}")
        windows = as_windows(chain)
        if isinstance(windows, Skip):
            return windows
        chain = windows
    try:
        after = with_settings(chain, entry.settings)
    except RequestError as error:
        raise RequestError(f"{where}: {error!s}{_TRY}") from error
    if reason := infeasible(chain, after):
        raise RequestError(f"{where}: {reason}{_TRY}")
    return as_it_runs(chain, after)
