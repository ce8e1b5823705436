"""One region: the same inputs into both of its forms, and whether rounding explains the gap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import LimitMet, OnnxpadError, headline
from onnxpad.model.comparing.networks import Network, Operation
from onnxpad.model.comparing.regions import Region
from onnxpad.probing.evaluator import NotEvaluable
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import Gap, gap, same, untelling
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.difference_maps import DifferenceMap, difference_map
from onnxpad.validation.report import EVALUATOR, ONNXRUNTIME, SEVERITY, RegionRow, Verdict
from onnxpad.validation.trace import Traces, trace

Array = NDArray[Any]
_MOST_READ = 1 << 22
# Worst-case bounds multiply from layer to layer: after a few they would excuse real differences.
DEEPEST = 4
ROUNDING = ("Conv", "FusedConv", "ConvTranspose", "AveragePool", "LpPool", "QLinearConv")


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on one tensor of a region."""

    tensor: str
    verdict: Verdict
    judge: str
    gap: Gap | None = None
    reason: str = ""
    difference: DifferenceMap | None = None


class Case:
    """A region with the inputs that one sample gives it."""

    def __init__(
        self,
        bench: Bench,
        networks: tuple[Network, Network],
        region: Region,
        feeds: Mapping[str, Array],
    ) -> None:
        self.bench = bench
        self.networks = networks
        self.region = region
        self.feeds = feeds
        self._traced: dict[int, Traces] = {}
        self._ran: dict[int, Results] = {}

    def judged(self, sample: int) -> RegionRow:
        """The worst finding over the region's outputs."""
        worst = max(self._findings(), key=lambda finding: SEVERITY.index(finding.verdict))
        before, after = (
            tuple(network.operation(index).label for index in indices)
            for network, indices in zip(self.networks, self._sides(), strict=True)
        )
        measured = worst.gap
        return RegionRow(
            sample,
            before,
            after,
            worst.tensor,
            worst.verdict,
            worst.judge,
            None if measured is None else measured.max_abs,
            None if measured is None else measured.ratio,
            "" if measured is None else measured.where,
            worst.reason,
            None if measured is None else measured.bound,
            worst.difference,
        )

    def tells(self) -> bool:
        """Whether the first form runs on these inputs and gives finite numbers."""
        ran = self._run(0)
        if isinstance(ran, RunFailure):
            return False
        return all(v.dtype.kind != "f" or np.isfinite(v).all() for v in ran.values())

    def results(self, side: int) -> dict[str, Array]:
        """What one form gives; nothing where it does not run."""
        ran = self._run(side)
        return {} if isinstance(ran, RunFailure) else ran

    def agrees_by_text(self) -> bool | None:
        """Whether the ONNX text makes one thing of these inputs; None where that is not known."""
        traced = self._traces(0, 1)
        if isinstance(traced, str):
            return None
        first, second = traced
        return all(
            _gap(first[name].value, second[name].value, _sum([first, second], name)).within
            for name in self.region.outputs
        )

    def check_text(self, results: Mapping[str, Array]) -> None:
        """Warn where onnxruntime's results of both forms leave the ONNX text.

        Only nodes are looked at whose SAME padding onnxruntime is known to place in its own way:
        with a dilation, or with a kernel shorter than the stride; results of many cells are not, as
        the evaluator would take minutes for a warning.
        """
        network = self.networks[0]
        if sum(value.size for value in results.values()) > _MOST_READ:
            return
        if not any(_ambitious(network, index) for index in self.region.before):
            return
        traced = self._traces(0)
        if isinstance(traced, str):
            return
        (exact,) = traced
        if all(_gap(exact[n].value, v, exact[n].error).within for n, v in results.items()):
            return
        labels = ", ".join(network.operation(index).label for index in self.region.before)
        self.bench.warn(
            f"at {labels} both models give what onnxruntime makes of the original, which is not "
            "what the ONNX text says"
        )

    def _sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.region.before, self.region.after

    def _run(self, side: int) -> Results:
        if side not in self._ran:
            self._ran[side] = self._run_now(side)
        return self._ran[side]

    def _run_now(self, side: int) -> Results:
        network, indices = self.networks[side], self._sides()[side]
        part = self.bench.part(network, indices, self._read(side), self.region.outputs)
        return self.bench.run(part, self._read(side))

    def _read(self, side: int) -> dict[str, Array]:
        """Inputs that this form reads; onnxruntime refuses others."""
        return self.networks[side].reads(self._sides()[side], self.feeds)

    def _findings(self) -> list[Finding]:
        ran = self._run(0), self._run(1)
        before, after = ran
        if isinstance(before, RunFailure) or isinstance(after, RunFailure):
            return self._evaluated(*ran)
        names = self.region.outputs
        if all(same(before[name], after[name]) for name in names):
            return [Finding(name, Verdict.IDENTICAL, ONNXRUNTIME) for name in names]
        apart = any(before[name].shape != after[name].shape for name in names)
        bounds = {} if apart else self._bounds(before, after)  # rounding gives no other shape
        if isinstance(bounds, str):
            return [Finding(names[0], Verdict.UNVERIFIED, ONNXRUNTIME, None, bounds)]
        gaps = {name: _gap(before[name], after[name], bounds.get(name)) for name in names}
        if all(found.within for found in gaps.values()):
            return [_within(name, gaps[name], ONNXRUNTIME) for name in names]
        return self._against_text(before, after, gaps)

    def _bounds(
        self, before: Mapping[str, Array], after: Mapping[str, Array]
    ) -> dict[str, Array | float] | str:
        """What rounding may do to each output: from the arithmetic, or else measured.

        A text where neither is known, or rounding alone may do more than padding would.
        """
        traced = self._traces(0, 1)
        if isinstance(traced, str):
            why, bounds = traced, self._noise(before, after)
        else:
            why = "rounding is strongly amplified here"
            bounds = {name: _sum(traced, name) for name in self.region.outputs}
        if not bounds:
            return why
        for name, bound in bounds.items():
            largest = float(np.max(bound, initial=0.0))
            if untelling(before[name], largest):
                return f"{why}: rounding alone may move '{name}' by {largest:.3g}"
        return bounds

    def _noise(
        self, before: Mapping[str, Array], after: Mapping[str, Array]
    ) -> dict[str, Array | float]:
        """How far rounding moves each form, together; nothing where that is not known."""
        total: dict[str, Array | float] = {}
        for side, values in enumerate((before, after)):
            part = self.bench.part(
                self.networks[side], self._sides()[side], self._read(side), self.region.outputs
            )
            found = self.bench.noise(part, self._read(side), values)
            if found is None or any(before[n].shape != after[n].shape for n in values):
                return {}
            total = {
                name: total.get(name, 0.0) + np.broadcast_to(bound, before[name].shape)
                for name, bound in found.items()
            }
        return total

    def _against_text(
        self, before: dict[str, Array], after: dict[str, Array], gaps: Mapping[str, Gap]
    ) -> list[Finding]:
        """onnxruntime's results differ: is it that onnxruntime leaves the ONNX text?"""
        judged = self._evaluated(before, after)
        if all(f.verdict in (Verdict.IDENTICAL, Verdict.ROUNDING) for f in judged):
            labels = [self.networks[0].operation(i).label for i in self.region.before]
            self.bench.warn(
                f"onnxruntime computes the original differently from the ONNX text at "
                f"{', '.join(labels)}; the second model follows the text"
            )
            return judged
        failed = [name for name, found in gaps.items() if not found.within]
        return [
            _different(name, ONNXRUNTIME, gaps[name], (before[name], after[name]))
            for name in failed
        ]

    def _evaluated(self, before: Results, after: Results) -> list[Finding]:
        """Compare the second form with the ONNX text's value of the first."""
        names, traced = self.region.outputs, self._traces(0, 1)
        if isinstance(traced, str):
            said, why = before if isinstance(before, RunFailure) else after, traced
            if isinstance(said, RunFailure) and str(said) not in why:
                why += f"; onnxruntime: {said}"
            return [Finding(names[0], Verdict.UNVERIFIED, EVALUATOR, None, why)]
        exact, other = traced
        findings = []
        for name in names:
            right = exact[name]
            got = other[name].value if isinstance(after, RunFailure) else after[name]
            found = _gap(right.value, got, _sum([exact, other], name))
            if not found.within:
                findings.append(_different(name, EVALUATOR, found, (right.value, got)))
            else:
                findings.append(_within(name, found, EVALUATOR))
        return findings

    def _traces(self, *sides: int) -> list[Traces] | str:
        """What the ONNX text makes of these forms, or why that is not known; raises LimitMet."""
        try:
            return [self._trace(side) for side in sides]
        except LimitMet:
            raise
        except OnnxpadError as reason:
            return headline(reason)

    def _trace(self, side: int) -> Traces:
        if side in self._traced:
            return self._traced[side]
        network, indices = self.networks[side], self._sides()[side]
        rounding = [i for i in indices if network.nodes[i].op_type in ROUNDING]
        if len(rounding) > DEEPEST:
            raise NotEvaluable(f"{len(rounding)} convolutions or pools in one changed region")
        arithmetic = self.bench.arithmetic(list(self.feeds.values()))
        traced = trace(self.bench, network, indices, self._read(side), arithmetic)
        for name in self.region.outputs:
            if name not in traced:
                raise NotEvaluable(f"'{name}' is not made where it is read: a name is given twice")
        self._traced[side] = traced
        return traced


def _ambitious(network: Network, index: int) -> bool:
    operation = network.operation(index)
    facts = operation.attributes
    if not str(facts.get("auto_pad", "")).startswith("SAME"):
        return False
    kernel = facts.get("kernel_shape") or _kernel(network, operation) or [1]
    strides = facts.get("strides") or [1] * len(kernel)
    dilated = any(d != 1 for d in facts.get("dilations", ()))
    return dilated or any(k < s for k, s in zip(kernel, strides, strict=False))


def _kernel(network: Network, operation: Operation) -> list[int]:
    """The kernel of a convolution, from its weight; nothing where that is no constant."""
    weight = network.initializers.get(operation.inputs[1]) if operation.inputs[1:] else None
    return [] if weight is None else list(weight.dims[2:])


def _different(name: str, judge: str, found: Gap, both: tuple[Array, Array]) -> Finding:
    return Finding(name, Verdict.DIFFERENT, judge, found, difference=difference_map(*both))


def _within(name: str, found: Gap, judge: str) -> Finding:
    verdict = Verdict.IDENTICAL if found.max_abs == 0 else Verdict.ROUNDING
    return Finding(name, verdict, judge, found)


def _sum(traces: list[Traces], name: str) -> Array | float:
    """Both errors together; shapes that differ allow nothing."""
    errors = [t[name].error for t in traces if t[name].error is not None]
    if not errors or any(t[name].value.shape != traces[0][name].value.shape for t in traces):
        return 0.0
    total: Array = np.sum([np.asarray(error) for error in errors], axis=0)
    if traces[0][name].value.dtype.kind == "f":
        total = np.where(np.isfinite(total), total, 0.0)
    return total


def _gap(a: Array, b: Array, bound: Array | float | None) -> Gap:
    limit = 0.0 if bound is None else bound
    if isinstance(limit, np.ndarray) and limit.shape != a.shape:
        limit = 0.0
    return gap(a, b, limit)
