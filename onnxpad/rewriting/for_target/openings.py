"""What would let a target take nodes for which there is no way: facts about sizes, each tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from math import lcm
from typing import NamedTuple

from onnxpad.errors import ModelError, RequestError
from onnxpad.geometry.size import Symbol
from onnxpad.model.graph.nodes import Address
from onnxpad.model.reading.divisors import Divisors, hanging_on_sizes, settling_divisors
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain, Skip
from onnxpad.padding.effective_pads import effective_pads, settling
from onnxpad.rewriting.for_target.report import NodeVerdict, NoWay, Opening, PassPlan
from onnxpad.rewriting.for_target.requests import beyond_batch
from onnxpad.rewriting.for_target.search import Planner
from onnxpad.rewriting.for_target.verdicts import verdicts

DimFacts = dict[str, int | str]
_EXAMPLE = 640


def opening(
    survey: Survey,
    planner: Planner,
    selected: Callable[[Address], bool],
    found: Sequence[NodeVerdict],
) -> Opening:
    """What settles most of the nodes of `found` that have no way, tried on the model itself."""
    stuck = [one for one in found if isinstance(one.way, NoWay)]
    granted = sum(1 for one in stuck if one.waits_for_knowledge)
    best = Opening(len(stuck), granted=granted)
    hopeful = {one.node for one in stuck if _may_hang_on_sizes(one)}
    chains = [chain for s in survey.sites_now() if s.address in hopeful for chain in s.chains]
    computed = any(map(hanging_on_sizes, chains))
    settled = settling_divisors(survey, survey.facts) if computed else None
    divisors = settled.divisors if settled else ()
    *weaker, strongest = _candidates(chains, divisors)
    trial = _Trial(survey, planner, selected, {one.node for one in stuck}, hopeful)
    most = trial.settled(strongest)
    for facts in (*weaker, strongest) if most else ():
        if best.settled < most and (number := trial.settled(facts)) > best.settled:
            left, ways = trial.left(facts), tuple(trial.ways(facts))
            best = Opening(len(stuck), tuple(facts.items()), number, granted, left, ways)
    return best


class _Left(NamedTuple):
    """The nodes that are `stuck`, and the `passes` of those with a way."""

    stuck: frozenset[Address]
    passes: Mapping[Address, tuple[str, ...]]


class _Trial:
    def __init__(
        self,
        survey: Survey,
        planner: Planner,
        selected: Callable[[Address], bool],
        stuck: set[Address],
        hopeful: set[Address],
    ) -> None:
        self._survey = survey
        self._planner = planner.for_hints(assumes_sizes=False)
        self._assuming = planner.for_hints(assumes_sizes=True)
        self._selected = selected
        self._stuck = stuck
        self._hopeful = hopeful
        self._known: dict[tuple[tuple[str, int | str], ...], _Left] = {}

    def settled(self, facts: DimFacts) -> int:
        """How many of the hopeful nodes are no longer stuck; 0 where others then are."""
        left = self.left(facts)
        return len(self._hopeful - left) if facts and left <= self._stuck else 0

    def left(self, facts: DimFacts) -> frozenset[Address]:
        """The nodes that are stuck with these facts."""
        return self._with(facts).stuck

    def ways(self, facts: DimFacts) -> Iterator[tuple[Address, tuple[str, ...]]]:
        """The passes with which the hopeful nodes that these facts settle are taken."""
        found = self._with(facts)
        for node in self._hopeful - found.stuck:
            yield node, found.passes.get(node, ())

    def _with(self, facts: DimFacts) -> _Left:
        key = tuple(facts.items())
        if key not in self._known:
            self._known[key] = self._tried(facts) if facts else _Left(frozenset(self._stuck), {})
        return self._known[key]

    def _tried(self, facts: DimFacts) -> _Left:
        known = copy(self._survey)
        try:
            known.learn(facts)
        except (ModelError, RequestError):  # these sizes contradict the model
            return _Left(frozenset(self._stuck), {})
        sizes = beyond_batch(self._survey.document.model, facts)
        planner = self._assuming if sizes else self._planner
        after = list(verdicts(known, planner, self._selected))
        return _Left(
            frozenset(one.node for one in after if isinstance(one.way, NoWay)),
            {one.node: one.way.passes for one in after if isinstance(one.way, PassPlan)},
        )


def _may_hang_on_sizes(verdict: NodeVerdict) -> bool:
    """Whether facts may help: not where the operator is lacking in every form."""
    return not verdict.brought_by and not verdict.judgement.is_blanket


def _candidates(chains: Sequence[Chain], divisors: Divisors) -> Iterator[DimFacts]:
    """Facts about dimensions, those that say least first; `divisors` make computed pads known."""
    pads = [effective_pads(chain) for chain in chains]
    multiples, _ = settling([found for found in pads if isinstance(found, Skip)])
    rests = _rests(_joined((*multiples, *divisors)))
    batch: DimFacts = {
        size.root: 1
        for chain in chains
        if isinstance(size := (chain.shape or (None,))[0], Symbol) and _is_dimension(size)
        if size.root
    }
    yield rests
    yield batch
    yield batch | rests
    moduli = _joined((*_moduli(chains), *divisors))
    yield batch | _rests(moduli)
    yield batch | {root: m * max(1, _EXAMPLE // m) for root, m in moduli.items()}


def _is_dimension(size: Symbol) -> bool:
    return size.divisor == 1 and not size.offset


def _rests(moduli: dict[str, int]) -> DimFacts:
    return {root: f"%{modulus}=0" for root, modulus in moduli.items()}


def _joined(moduli: Iterable[tuple[str, int]]) -> dict[str, int]:
    """What all divisors of a size divide."""
    found: dict[str, int] = {}
    for root, modulus in moduli:
        found[root] = lcm(found.get(root, 1), modulus)
    return found


def _moduli(chains: Sequence[Chain]) -> Iterator[tuple[str, int]]:
    """For open sizes that operators slide along, the product of the strides behind them."""
    for axis in (axis for chain in chains for axis in chain.axes):
        if isinstance(axis.size, Symbol) and axis.size.root:
            yield axis.size.root, axis.size.divisor * axis.stride
