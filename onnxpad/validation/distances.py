"""How far the outputs of a model moved: two models on the same inputs, without a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.model.comparing.networks import open_lean_network
from onnxpad.model.opened import ModelLike
from onnxpad.probing.random_inputs import Sampler
from onnxpad.sessions import Device, RunFailure, Settings, resolved
from onnxpad.validation.agreement import gap, relative_gap
from onnxpad.validation.bench import Bench
from onnxpad.validation.difference_maps import DifferenceMap, difference_map
from onnxpad.validation.interface import joint_types, matched
from onnxpad.validation.report import plain_values
from onnxpad.validation.request import with_channels
from onnxpad.validation.samples import Pair, Ran, random_samples

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Distance:
    """One output in one sample: `relative` is the largest difference over the largest value.

    `share` is the part of its elements that differ. All three are None where a model did not
    run (`why`), or where the shapes differ. `difference` says where the elements lie.
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

    def to_json(self) -> dict[str, Any]:
        """The row as plain data; numbers that are infinite are texts."""
        record: dict[str, Any] = plain_values(asdict(self))
        return record


@dataclass(frozen=True, slots=True)
class Distances:
    """Every output in every sample, and which providers ran the models."""

    rows: tuple[Distance, ...]
    providers: Mapping[str, tuple[str, ...]]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The rows as plain data."""
        providers = {name: list(found) for name, found in self.providers.items()}
        rows = [row.to_json() for row in self.rows]
        return {"rows": rows, "providers": providers, "warnings": list(self.warnings)}


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
        first = open_lean_network(before)
        second = open_lean_network(after, first.folder)
        types = with_channels(first, first.input_types(dims))
        pair = Pair(first, matched(bench.warn, first, second))
        sampler = Sampler(joint_types(types, pair.after.input_types()), seed)
        runs = random_samples(bench, pair, sampler, samples or 3)
        rows = tuple(row for ran in runs for row in _rows(pair, ran))
        bench.note_providers("before", pair.before)
        bench.note_providers("after", pair.after)
        return Distances(rows, dict(bench.providers), tuple(bench.warnings))


def _rows(pair: Pair, ran: Ran) -> list[Distance]:
    both = {"before": ran.before, "after": ran.after}
    failed = {role: one for role, one in both.items() if isinstance(one, RunFailure)}
    why = "; ".join(f"the model {role} did not run: {one}" for role, one in failed.items())
    return [_row(ran, name, why) for name in pair.before.outputs]


def _row(ran: Ran, name: str, why: str) -> Distance:
    one = None if isinstance(ran.before, RunFailure) else ran.before[name]
    other = None if isinstance(ran.after, RunFailure) else ran.after[name]
    row = Distance(
        ran.index,
        name,
        None if one is None else tuple(one.shape),
        None if other is None else tuple(other.shape),
        why=why,
    )
    if one is None or other is None or one.shape != other.shape:
        return row
    share = float(np.mean(one != other)) if one.size and one.dtype != object else 0.0
    return replace(
        row,
        max_abs=gap(one, other).max_abs,
        relative=relative_gap(one, other),
        share=share,
        difference=difference_map(one, other) if share else None,
    )
