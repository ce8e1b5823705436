"""Differences that samples do not show: changed parts run on probes, and whether a caller sees it.

A part that differs on some input counts where that input can be there (`ranges`) and what the rest
of each model makes of the two results differs too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import LimitMet, OnnxpadError
from onnxpad.model.comparing.networks import Network, free_names
from onnxpad.model.comparing.regions import Region
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import gap
from onnxpad.validation.bench import Bench
from onnxpad.validation.changed_parts import Case
from onnxpad.validation.probes import has_corners, probes
from onnxpad.validation.ranges import Ranges
from onnxpad.validation.report import RegionRow, Verdict
from onnxpad.validation.samples import Pair, Ran, captured

Array = NDArray[Any]
_SCALES = (10.0, -3000.0, 3000.0, 0.01)
_NOT_DATA = ("Shape", "Size", "ConstantOfShape", "EyeLike")


@dataclass(frozen=True, slots=True)
class Hidden:
    """A part that differs on a probe; `shown` says whether a caller can see that (None: open)."""

    row: RegionRow
    shown: bool | None


class Prober:
    """Probes the changed parts of two models that one sample showed to be equal.

    Where the models are `proved` to be the same function, no caller gives a part inputs on which
    the text makes two things of it: a padded cell has one value, whatever a probe gives it. What
    differs on a probe counts where the text is known to make one thing of it.
    """

    def __init__(
        self, bench: Bench, pair: Pair, found: list[Region], *, proved: bool = False
    ) -> None:
        self._bench = bench
        self._proved = proved
        self._pair = pair
        self._found = found
        self._ranges = tuple(Ranges(network) for network in pair.both())
        self._data = _depending(pair.before)

    def probed(self, ran: Ran) -> list[Hidden]:
        """The parts that differ on inputs which the sample did not show, worst first."""
        wanted = [r for r in self._found if has_corners(self._pair.both(), r) and self._free(r)]
        if not wanted:
            return []
        try:
            seen, _ = captured(self._bench, self._pair, ran)
        except LimitMet:
            raise
        except OnnxpadError:
            return []
        hidden = []
        for region in wanted:
            if all(name in seen for name in region.inputs):
                self._bench.progress(f"probing {', '.join(region.outputs)}")
                hidden += self._of_region(ran, region, seen)
        return sorted(hidden, key=lambda one: (one.shown is not True, one.shown is not None))

    def _of_region(self, ran: Ran, region: Region, seen: Mapping[str, Array]) -> list[Hidden]:
        given = {name: seen[name] for name in region.inputs}
        first, second = self._ranges
        ranges = {n: first.of(n).within(second.of(n)) for n in self._free(region)}
        found = None
        for values in probes(self._pair.both(), region, given, ranges):
            case = Case(self._bench, self._pair.both(), region, values)
            if not case.tells():
                continue
            row = case.judged(ran.index)
            if row.verdict is not Verdict.DIFFERENT:
                continue
            if self._proved and not case.agrees_by_text():
                continue
            shown: bool | None = self._shown(ran, region, case)
            if shown and all(one.sure for one in ranges.values()):
                return [Hidden(row, shown)]
            shown = None if shown else shown
            found = Hidden(row, shown) if found is None or shown is None else found
        return [] if found is None else [found]

    def _free(self, region: Region) -> set[str]:
        """Inputs of a part that take other values on their own: the only one, or the model's.

        Two tensors inside a model may hang together in any way.
        """
        names = self._data & set(region.inputs)
        return names if len(names) == 1 or names <= set(self._pair.before.fed) else set()

    def scaled(self, ran: Ran) -> Iterator[dict[str, Array]]:
        """The sample's inputs in other magnitudes, where a changed part reads several tensors."""
        both = self._pair.both()
        parts = [one for one in self._found if has_corners(both, one) and not self._free(one)]
        if any(self._data & set(one.inputs) for one in parts):
            for scale in _SCALES:
                self._bench.progress(f"inputs times {scale:g}")
                yield {
                    name: (value * scale).astype(value.dtype) if value.dtype.kind == "f" else value
                    for name, value in ran.feeds.items()
                }

    def _shown(self, ran: Ran, region: Region, case: Case) -> bool:
        """Whether the rest of each model makes two things of the part's two results."""
        results = []
        for side, network in enumerate(self._pair.both()):
            own = case.results(side)
            rest = self._rest(ran, network, (region.before, region.after)[side], case.feeds, own)
            if rest is None:
                return True
            results.append(rest)
        bounds = results[0][1]
        return any(
            not gap(value, results[1][0][name], 4 * bounds.get(name, np.zeros(()))).within
            for name, value in results[0][0].items()
        )

    def _rest(
        self,
        ran: Ran,
        network: Network,
        inside: tuple[int, ...],
        feeds: Mapping[str, Array],
        own: Mapping[str, Array],
    ) -> tuple[dict[str, Array], dict[str, Array]] | None:
        """Outputs behind the part and how rounding moves them; None where that does not run."""
        known = {**feeds, **own}
        behind = _behind(network, set(known), set(inside))
        outputs = [n for n in network.outputs if n in known or network.producers.get(n) in behind]
        made = {name for index in behind for name in network.nodes[index].output}
        needed = network.names_read(behind) - made - known.keys() - network.initializers.keys()
        inner = sorted(needed - set(ran.feeds))
        beside = self._bench.run(network, ran.feeds, inner) if inner else {}
        if isinstance(beside, RunFailure):
            return None
        values = {**ran.feeds, **beside, **known}
        given = network.reads(behind, values)
        results = {name: known[name] for name in outputs if name in known}
        wanted = [name for name in outputs if name not in known]
        if not wanted:
            return results, {}
        part = self._bench.part(network, sorted(behind), given, wanted)
        ended = self._bench.run(part, given)
        if isinstance(ended, RunFailure):
            return None
        return results | ended, self._bench.noise(part, given, ended) or {}


def warned(one: Hidden) -> str:
    """What is said of a part that differs where nobody sees it."""
    return (
        f"'{one.row.tensor}' inside differs for other inputs than the samples' "
        f"({one.row.where}), and nothing behind it shows that"
    )


def reached(one: Hidden) -> RegionRow:
    """The row of a part that differs, as the report has it."""
    return replace(one.row, reason="on inputs of its own, which the samples do not reach")


def _depending(network: Network) -> set[str]:
    """Tensors that depend on the numbers that the model is fed, not only on their shapes."""
    found = set(network.fed)
    for node in network.nodes:
        if node.op_type not in _NOT_DATA and found & free_names(node):
            found |= {name for name in node.output if name}
    return found


def _behind(network: Network, known: set[str], inside: set[int]) -> set[int]:
    """Nodes outside of a part that depend on what goes into it or comes out of it."""
    reached = set(known)
    found = set()
    for index, node in enumerate(network.nodes):
        if index not in inside and reached & free_names(node) and not known & set(node.output):
            found.add(index)
            reached |= {name for name in node.output if name}
    return found
