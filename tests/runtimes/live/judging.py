"""Compares what a runtime computed with the reference."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from onnxpad.runtimes.running.runner import Array, Reply

RELATIVE = 2e-3  # of the largest reference value: half-precision kernels pass, a shifted pad fails
HUGE = 1e30  # beyond it a value is a fill such as the lowest float, not something computed

Verdict = Literal["ok", "fallback", "wrong", "refused", "crash", "timeout", "unjudged"]


@dataclass(frozen=True)
class Outcome:
    """`unjudged`: the runtime ran the model, and there was no reference to compare with.

    `fallback`: the numbers are right, and not all nodes ran on the device.
    """

    verdict: Verdict
    message: str = ""
    difference: float = 0.0
    outputs: Mapping[str, Array] = field(default_factory=dict, repr=False)


def judge(reply: Reply, references: Mapping[str, Array], tolerance: float | None = None) -> Outcome:
    """Compare every output that has a reference; integers must be equal.

    `tolerance` is absolute and replaces that and RELATIVE.
    """
    if reply.status in ("refused", "crash", "timeout"):
        return Outcome(reply.status, reply.message)
    worst = 0.0
    for name, reference in references.items():
        if name not in reply.outputs:
            return Outcome("wrong", f"missing output {name}", outputs=reply.outputs)
        found = reply.outputs[name]
        if found.shape != reference.shape:
            shapes = f"shape {list(found.shape)} want {list(reference.shape)}"
            return Outcome("wrong", f"{name}: {shapes}", outputs=reply.outputs)
        difference, allowed = _distance(found, reference)
        worst = max(worst, difference)
        if difference > (allowed if tolerance is None else tolerance):
            return Outcome("wrong", f"{name}: off by {difference:.3g}", worst, reply.outputs)
    right: Verdict = "fallback" if reply.status == "fell back" else "ok"
    return Outcome(right if references else "unjudged", "", worst, reply.outputs)


def _distance(found: Array, reference: Array) -> tuple[float, float]:
    """The largest difference, infinite where one side is not finite, and what is allowed."""
    a, b = found.astype(np.float64), reference.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    difference = np.where(np.isnan(difference), np.inf, difference)
    size = np.abs(b[np.abs(b) < HUGE])
    relative = RELATIVE if reference.dtype.kind == "f" else 0.0
    return float(difference.max(initial=0.0)), relative * float(size.max(initial=0.0))
