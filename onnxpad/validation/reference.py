"""A model against outputs that somebody else computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import with_written_pads
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import gap, untelling
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.difference_maps import difference_map
from onnxpad.validation.report import FirstDifference, OutputRow, Verdict
from onnxpad.validation.verdicts import apart_when_optimised

Array = NDArray[Any]
# The reference rounds too, by algorithms that are not known here.
FOREIGN = 4.0
_WHERE_IT_DOES_NOT_RUN = ("onnxpad rewrite --target onnxruntime, and validate what that writes",)
_AS_PADS = (
    "; run with SAME written as pads, which is the same by the ONNX text, since onnxruntime does "
    "not run it as it is: onnxpad rewrite --target onnxruntime writes that"
)
Shapes = tuple[tuple[int, ...], ...]


class Against(NamedTuple):
    """What samples show of a model: `first` is what differs first, `hints` are what to try."""

    rows: list[OutputRow]
    verdict: Verdict
    reason: str
    first: FirstDifference | None = None
    hints: tuple[str, ...] = ()


def against_reference(
    bench: Bench,
    network: Network,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Sequence[Array]],
    *,
    hold_optimised: bool = True,
    in_pads: bool = False,
) -> Against:
    """What the samples show, with the first tensor in the model's order that differs.

    The bound is the measured effect of rounding on each tensor, and as much again for the
    reference (`FOREIGN`); a reference saved as float16 is rounded once more. `hold_optimised`
    holds runs with optimisations against the tolerance that was asked for as well. With `in_pads` a
    model that onnxruntime does not run for the sake of SAME is run with the pads it stands for.
    """
    names = sorted(expected, key=lambda name: network.producers.get(name, -1))
    rows: list[OutputRow] = []
    first: FirstDifference | None = None
    written: dict[Shapes, Network | None] = {}
    for index, feeds in enumerate(samples):
        run = partial(_run, written=written) if in_pads else _as_it_is
        ran, off = run(bench, network, feeds, tuple(names))
        if isinstance(off, RunFailure):
            why = f"onnxruntime does not {off.stage} the model: {off}"
            return Against(rows, Verdict.UNVERIFIED, why, hints=_WHERE_IT_DOES_NOT_RUN)
        clean = {name: off[name] for name in names}
        right_ones = {name: expected[name][index] for name in names}
        bench.look(right_ones, clean)
        bounds = bench.noise(ran, feeds, clean, foreign=True)
        if bounds is None:
            why = "how far rounding may go in this model could not be measured"
            return Against(rows, Verdict.UNVERIFIED, why)
        for name in names:
            right = expected[name][index]
            bound = FOREIGN * float(bounds[name].max(initial=0.0)) + own_rounding(right)
            row = _row(index, name, "off", right, off[name], bound)
            rows.append(row)
            if first is None and not _fine(row):
                first = FirstDifference(_label(network, name), name, row.max_abs, row.where)
        on = bench.run(ran, feeds, optimise=True)
        if hold_optimised:
            bench.look(right_ones, on)
        off_rows = {row.output: row for row in rows if row.sample == index}
        rows += _on_rows(bench, off_rows, expected, on)
    verdict, reason = _concluded(rows, expected, first)
    return Against(rows, verdict, reason + (_AS_PADS if any(written.values()) else ""), first)


def _as_it_is(
    bench: Bench, network: Network, feeds: Mapping[str, Array], names: tuple[str, ...]
) -> tuple[Network, Results]:
    return network, bench.run(network, feeds, names)


def _run(
    bench: Bench,
    network: Network,
    feeds: Mapping[str, Array],
    names: tuple[str, ...],
    written: dict[Shapes, Network | None],
) -> tuple[Network, Results]:
    """What ran and what it gave: the model, or where that fails the same with SAME as pads.

    `written` keeps the latter by the shapes of the inputs.
    """
    found = bench.run(network, feeds, names)
    if not isinstance(found, RunFailure):
        return network, found
    shapes = tuple(value.shape for value in feeds.values())
    if shapes not in written:
        written[shapes] = with_written_pads(network, feeds)
    other = written[shapes]
    again = found if other is None else bench.run(other, feeds, names)
    if other is None or isinstance(again, RunFailure):
        written[shapes] = None
        return network, found
    said = f"onnxruntime does not {found.stage} the model as it is: {found}"
    if said not in bench.warnings:
        bench.warn(said)
    return other, again


def own_rounding(right: Array) -> float:
    """By how much a reference that was saved as float16 is rounded at most."""
    if right.dtype != np.float16 or not np.isfinite(right).any():
        return 0.0
    return 2.0**-11 * float(np.abs(right[np.isfinite(right)].astype(np.float64)).max())


def _concluded(
    found: Sequence[OutputRow],
    expected: Mapping[str, Sequence[Array]],
    first: FirstDifference | None,
) -> tuple[Verdict, str]:
    if first is not None:
        return Verdict.DIFFERENT, _said(first)
    rows = [row for row in found if row.level == "off"]
    if all(row.equal for row in rows):
        more = apart_when_optimised([row for row in found if row.level == "on"])
        return Verdict.IDENTICAL, f"every element equals the reference{more}"
    for row in rows:
        if not row.equal and untelling(expected[row.output][row.sample], row.bound or 0.0):
            return Verdict.UNVERIFIED, (
                f"'{row.output}' is {row.max_abs:.3g} off the reference, and rounding alone may "
                f"move it by {row.bound:.3g}: too much to see padding (a quantised model?)"
            )
    worst = max(row.max_abs or 0.0 for row in rows)
    most = f"{worst:.3g} at most{_more_when_optimised(found)}"
    return Verdict.ROUNDING, f"apart from the reference by rounding, {most}"


def _more_when_optimised(rows: Sequence[OutputRow]) -> str:
    """What default optimisations add to the largest difference, where anything."""
    largest = {
        level: max((row.max_abs or 0.0 for row in rows if row.level == level), default=0.0)
        for level in ("off", "on")
    }
    if largest["on"] <= largest["off"]:
        return ""
    beyond = any(row.level == "on" and not _fine(row) for row in rows)
    more = ", which is more than rounding" if beyond else ""
    return f" without optimisations, {largest['on']:.3g} with them{more}"


def _on_rows(
    bench: Bench,
    off_rows: Mapping[str, OutputRow],
    expected: Mapping[str, Sequence[Array]],
    on: Results,
) -> list[OutputRow]:
    """Rows for the level 'on'; a warning wherever they tell another story than `off_rows`."""
    if isinstance(on, RunFailure):
        bench.warn(f"onnxruntime's default optimiser breaks the model ({on})")
        return []
    rows = []
    for name, off in off_rows.items():
        if name not in on:
            continue
        right = expected[name][off.sample]
        row = _row(off.sample, name, "on", right, on[name], off.bound or 0.0)
        rows.append(row)
        if _fine(off) and not _fine(row):
            bench.warn(f"onnxruntime's default optimiser moves '{name}' away from the reference")
        if _fine(row) and not _fine(off):
            bench.warn(
                f"'{name}' agrees with the reference only under onnxruntime's default "
                "optimisations: was the reference made with them?"
            )
    return rows


def _row(index: int, name: str, level: str, right: Array, got: Array, bound: float) -> OutputRow:
    found = gap(right, got, bound)
    return OutputRow(
        index,
        name,
        level,
        tuple(right.shape),
        tuple(got.shape),
        found.max_abs == 0,
        found.max_abs,
        bound,
        found.where,
        difference_map(right, got) if found.where else None,
    )


def _fine(row: OutputRow) -> bool:
    return row.max_abs is not None and row.max_abs <= (row.bound or 0.0)


def _label(network: Network, name: str) -> str:
    index = network.producers.get(name)
    return "" if index is None else network.operation(index).label


def _said(first: FirstDifference) -> str:
    return f"'{first.tensor}' differs from the reference{first.amount()}"
