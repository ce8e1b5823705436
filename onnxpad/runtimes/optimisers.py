"""What other optimisers make of padded models, as the formal kernel judges it.

Measured on 2026-11-22 with `python -m tests.proof.others`: on both models of each trap of the
tests, and on 110 random models (seed 20261123). A rewrite is a model that the tool changed beyond
names, types and metadata; it is refuted with an input, which the tests' interpreter confirms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refutation:
    """A rewrite that computes something else: what the model has, and one cell on both sides."""

    model: str
    counterexample: str


@dataclass(frozen=True, slots=True)
class Optimiser:
    """A tool in one release: of its rewrites, how many are proved and how many are wrong.

    `refuted` has one example for each way in which they are.
    """

    name: str
    release: str
    rewrites: int
    proved: int
    wrong: int
    refuted: tuple[Refutation, ...]

    @property
    def source(self) -> str:
        """How it is known."""
        return f"measured with {self.name.partition('-')[0]} {self.release}"


_MAX_POOL = Refutation(
    "Pad of 0 in front of MaxPool",
    "the Pad becomes pads, which MaxPool takes for the lowest value: for data below 0, y[0,0,0] is "
    "0 and becomes negative",
)
_CEIL = Refutation(
    "Pad in front of AveragePool with ceil_mode",
    "the last window starts in what are pads now, and is left out: y has 2 cells and keeps 1",
)


def optimisers() -> Mapping[str, Optimiser]:
    """By name."""
    return {one.name: one for one in _ALL}


_ALL = (
    Optimiser(
        "onnxscript",
        "0.7.2",
        142,
        135,
        6,
        (
            Refutation(
                "Conv SAME with dilations",
                "pads are computed for a kernel without dilation: y has 8 cells and keeps 6",
            ),
            Refutation(
                "Pad of 0 in front of ConvInteger with a zero point",
                "the Pad becomes pads, which ConvInteger takes for the zero point: where that is "
                "not 0, cells at the border differ",
            ),
            Refutation(
                "pads computed from an input that has a default",
                "they are folded, and the default is lost: the model has no result without them",
            ),
        ),
    ),
    Optimiser("onnxoptimizer", "0.4.2", 64, 61, 2, (_MAX_POOL, _CEIL)),
    Optimiser("onnxsim", "0.8.1", 67, 66, 1, (_CEIL,)),
    Optimiser("onnxslim", "0.1.98", 73, 73, 0, ()),
    Optimiser("onnxruntime-basic", "1.31.1", 56, 54, 2, (_MAX_POOL, _CEIL)),
    Optimiser("onnxruntime-extended", "1.31.1", 60, 52, 2, (_MAX_POOL, _CEIL)),
)
