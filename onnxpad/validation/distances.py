"""How far the outputs of a model moved: two models on the same inputs, without a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onnxpad import processes
from onnxpad.model.comparing.networks import open_network
from onnxpad.model.opened import ModelLike
from onnxpad.probing.agreement import DifferenceMap, difference_map, relative_gap
from onnxpad.reports import plain
from onnxpad.sessions import Device, RunFailure, Settings, resolved
from onnxpad.validation.bench import Bench
from onnxpad.validation.interface import joint_types, matched
from onnxpad.validation.judging import row_of
from onnxpad.validation.samples import Pair, Ran, random_samples


@dataclass(frozen=True, slots=True)
class Distance:
    """Differences of one output in one sample.

    max_abs, relative, share: largest difference, the same over the largest value, and the part of
        the elements that differ; None if a model did not run (`why`) or shapes differ.
    difference: the heatmap; of the first sample only.
    """

    sample: int
    output: str
    shape_before: tuple[int, ...] | None
    shape_after: tuple[int, ...] | None
    max_abs: float | None = None
    relative: float | None = None
    share: float | None = None
    why: str = ""
    difference: DifferenceMap | None = None


@dataclass(frozen=True, slots=True)
class Distances:
    """Every output in every sample, and which providers ran the models."""

    rows: tuple[Distance, ...]
    providers: Mapping[str, tuple[str, ...]]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The rows as plain data."""
        record: dict[str, Any] = plain(self)
        return record


def distances(  # noqa: PLR0913 - each option is one word of the command line
    before: ModelLike,
    after: ModelLike,
    *,
    dims: Mapping[str, int | str] | None = None,
    samples: int | None = None,
    seed: int = 0,
    device: Device = "auto",
    timeout: float | None = None,
    memory: int | str | None = None,
) -> Distances:
    """Run two models, optimisations off, on `samples` random inputs (3) drawn from `seed`.

    Models are paths, ModelProtos or Graphs; `dims` fixes open sizes. `timeout` and `memory` are
    meant as in `validate`; raises as it does, and LimitMet where a limit was met.
    """
    with processes.limited(timeout, memory):
        bench = Bench(Settings(device=resolved(device)))
        first = open_network(before)
        pair = Pair(first, matched(bench.warn, first, open_network(after, first.folder)))
        types = joint_types(first.input_types(dims), pair.after.input_types())
        runs = random_samples(bench, pair, pair.sampler(types, seed), samples or 3)
        rows = tuple(_row(ran, name) for ran in runs for name in first.outputs)
        for role, network in zip(("before", "after"), pair, strict=True):
            bench.note_providers(role, network)
        return Distances(rows, dict(bench.providers), tuple(bench.warnings))


def _row(ran: Ran, name: str) -> Distance:
    seen, sides = row_of(ran.index, name, "off", (ran.before, ran.after)), ("before", "after")
    failed = zip(sides, (ran.before, ran.after), strict=True)
    why = [f"the model {role} did not run: {r}" for role, r in failed if isinstance(r, RunFailure)]
    row = Distance(ran.index, name, seen.shape_before, seen.shape_after, why="; ".join(why))
    if why or seen.other_shape:
        return row
    one, other = (result[name] for result in ran.results)
    share = float(np.mean(one != other)) if one.size and one.dtype != object else 0.0
    return replace(
        row,
        max_abs=seen.max_abs,
        relative=relative_gap(one, other),
        share=share,
        difference=difference_map(one, other) if share and not ran.index else None,
    )
