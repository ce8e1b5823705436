"""What onnxruntime itself does, whatever runs the nodes: limits of its loader and optimiser."""

from __future__ import annotations

from collections.abc import Callable

from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import Evidence, Row, miscomputes, refuses


def loader_rows(by: Callable[[str], Evidence]) -> tuple[Row, ...]:
    """Rows that hold for every execution provider; `by` makes evidence of a family of models."""
    return (*_window_rows(by), *fusion_rows(by))


def _window_rows(by: Callable[[str], Evidence]) -> tuple[Row, ...]:
    return (
        refuses("Conv", w.SAME, w.DILATED, by=by("SAME convolutions with dilations")),
        refuses("Conv", w.NEGATIVE_PADS, by=by("negative pads attributes")),
        miscomputes("Conv", w.SAME, w.SAME_SHIFTS, by=by("SAME with kernels below the stride")),
        miscomputes(w.POOLS, w.SAME, w.DILATED, by=by("SAME pools with dilations")),
        refuses(w.POOLS, w.SAME, w.SAME_NEGATIVE, by=by("SAME pools with kernels below stride")),
        refuses(
            (*w.POOLS, "LpPool"),
            w.EXPLICIT_LIKE_KERNEL,
            by=by("pools with pads up to and beyond the kernel"),
        ),
        refuses(("ConvTranspose", *w.POOLS, "LpPool"), w.NEGATIVE_PADS, by=by("negative pads")),
    )


def fusion_rows(by: Callable[[str], Evidence]) -> tuple[Row, ...]:
    """Those of the optimiser's Pad fusion alone."""
    return (
        miscomputes("MaxPool", f.HARMED_BY_FUSION, by=by("Pad(0) in front of MaxPool")),
        miscomputes(w.POOLS, f.SHORT_BY_FUSION, by=by("Pad(0) in front of pools with ceil_mode")),
        refuses(w.POOLS, f.WIDE_BEHIND_ZEROS, by=by("Pad(0) in front of pools")),
        refuses("Conv", f.BEHIND_PADDED_WEIGHT, by=by("Pad(0) in front of the weight of Conv")),
    )
