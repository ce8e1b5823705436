"""What is said of a plan, held against every sample rather than the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from onnxpad.diagnosis.alike import alike_everywhere
from onnxpad.diagnosis.planning import Settled, frequent_first
from onnxpad.diagnosis.running import Runner
from onnxpad.diagnosis.sites import SAME, Place, sizes_of
from onnxpad.retargeting.plan import Plan, PlanEntry, with_settings
from onnxpad.retargeting.windows_read import differs

Array = NDArray[Any]


def held(
    runner: Runner, samples: Sequence[Mapping[str, Array]], found: Settled, plan: Plan
) -> tuple[Settled, Plan]:
    """The choices that the plan writes, and what gives the same as they do on every sample.

    Numbers that stand for SAME at the sizes of the first sample are another way to pad where
    sizes are open: names and other ways are those of the numbers then.
    """
    entries = {entry.node: entry for entry in plan.entries}
    chosen, groups = list(found.chosen), list(found.groups)
    for number, place in enumerate(runner.places):
        entry = entries.get(place.label)
        if entry is None or not _stands_for_same(place, chosen[number], entry):
            continue
        option = _written(place, chosen[number], entry)
        if option is None:
            groups[number] = (chosen[number],)
        else:
            chosen[number] = option
        names = () if option is None else frequent_first(place.options[option].conventions)
        entries[place.label] = replace(entry, conventions=names)
    final = tuple(chosen)
    kept = alike_everywhere(runner, samples, final, groups)
    return replace(found, chosen=final, groups=kept), Plan(tuple(entries.values()))


def _stands_for_same(place: Place, choice: int, entry: PlanEntry) -> bool:
    same = place.options[choice].chain.padding in SAME
    return same and sizes_of(place.chain) is None and "pads" in entry.settings


def _written(place: Place, choice: int, entry: PlanEntry) -> int | None:
    """The option that pads by the numbers of the entry at every size."""
    chain = with_settings(place.options[choice].chain, entry.settings)
    same = (n for n, one in enumerate(place.options) if not differs(one.chain, chain))
    return next(same, None)
