"""Lines of the report for outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import gap, same
from onnxpad.validation.report import OutputRow
from onnxpad.validation.running import Pair, Ran

Array = NDArray[Any]


def output_rows(pair: Pair, ran: Ran) -> list[OutputRow]:
    """One line for every output of a sample, optimisations off."""
    return [
        output_row(ran.index, name, "off", (_item(ran.before, name), _item(ran.after, name)))
        for name in pair.before.outputs
    ]


def output_row(
    sample: int,
    name: str,
    level: str,
    results: tuple[Array | None, Array | None],
    bound: float | None = None,
) -> OutputRow:
    """One line of the report for an output of both models (None: did not run).

    With a `bound`, only what lies beyond it is said to be somewhere.
    """
    before, after = results
    shapes = [None if value is None else tuple(value.shape) for value in (before, after)]
    if before is None or after is None:
        return OutputRow(sample, name, level, shapes[0], shapes[1], equal=False, max_abs=None)
    found = gap(before, after, bound or 0.0)
    equal = same(before, after)
    return OutputRow(
        sample, name, level, shapes[0], shapes[1], equal, found.max_abs, bound, found.where
    )


def _item(result: Mapping[str, Array] | RunFailure, name: str) -> Array | None:
    return None if isinstance(result, RunFailure) else result[name]
