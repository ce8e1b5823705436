"""Tensors that both models name alike and that mean something else in the second one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.padding.operators import operator
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import same
from onnxpad.validation.report import RegionRow, Verdict
from onnxpad.validation.running import Pair, Ran


def renamed(pair: Pair, ran: Ran, judged: Sequence[RegionRow], row: RegionRow) -> bool:
    """Whether names explain the difference of `row`, a part that was run alone.

    A Pad that went leaves tensors of other shapes between its place and the operator, made by
    operators that do not pad; what reads them gives the same in the whole models. `judged` are
    the parts with such names set aside.
    """
    before, after = ran.before, ran.after
    if isinstance(before, RunFailure) or isinstance(after, RunFailure):
        return False
    if any(one.verdict not in (Verdict.IDENTICAL, Verdict.ROUNDING) for one in judged):
        return False
    first, second = before[row.tensor], after[row.tensor]
    if same(first, second):
        return tells(first)
    made = pair.before.producers.get(row.tensor)
    if first.shape == second.shape or made is None:
        return False
    maker = pair.before.operation(made)
    return operator(maker.domain, maker.op_type) is None


def tells(value: NDArray[Any]) -> bool:
    """Whether a float output takes more than one value, so that equality says something."""
    if value.dtype.kind in "iubOSU" or value.size == 0:
        return False
    return len(np.unique(value[np.isfinite(value)][:4096])) > 1
