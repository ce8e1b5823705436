"""Limits of what a file may make onnxpad compute, with the sentence for more.

A few bytes of a stranger's model can ask for 2**62 cells. Each limit is far above what models in
use need, and low enough that reading one ends in seconds.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Budget(NamedTuple):
    """A number, and the sentence for what goes beyond it ('{most}' stands for the number)."""

    most: int
    sentence: str

    def reason(self, what: str = "") -> str:
        """The sentence; `what` begins it and says who asks for more."""
        return f"{what}{self.sentence.format(most=f'{self.most:,}')}"


LARGEST_SIZE: Final = 2**63 - 1
"""Sizes and numbers of shapes are int64; what is beyond has overflowed in every runtime."""

LONGEST_NAME: Final = 400
"""Characters of a size's expression. A stack of a hundred pools needs less than 40, what users
read less than 80; arithmetic on two sizes can double it with each node."""

WINDOW: Final = Budget(1 << 16, " cells, more than the {most} that onnxpad works out cell by cell")
"""Cells under one window, or between two. The widest in use are 16,384 (Fourier transforms
written as convolutions); windows are compared cell by cell, at hundreds of sizes."""

COMPARED: Final = Budget(
    1 << 26, " cells would be read to compare its windows, more than {most}; --dim states sizes"
)
"""Cells of windows in one comparison of two ways to pad: a kernel of 500 at every size."""

AXES: Final = Budget(64, " axes, more than the {most} that an array of numpy can have")
"""Axes of a tensor."""

CONSTANT: Final = Budget(1 << 24, " numbers in a new constant, more than {most}")
"""Numbers of a constant that a rewrite makes: 64 MiB of floats. Weights that are larger already may
grow to 16 times as many."""

FOLDED_CELLS: Final = 1 << 24
"""Cells of all values that follow from constants and sizes: 128 MiB. What comes later stays a value
that the model computes."""

READ_BACK: Final = 1000
"""Nodes through which computed pads are followed to the sizes that they hang on."""

IN_A_ROW: Final = 64
"""Operators, or Pads, one behind the other, through which a tensor is followed."""

ROW: Final = 8
"""Pads in front of a node with which ways for a target are tried; models in use have up to 3."""

DEEPEST: Final = Budget(100, "bodies and functions are nested over {most} deep: inline them")
"""Python's own stack ends at 1,000 calls, and reading a body takes up to six. Protocol buffers
hold 33 graphs in each other, exporters write functions about as deep as a network has modules."""

WRITTEN_OUT: Final = Budget(
    20_000, " nodes stand for what the model calls, more than {most}: inline its functions"
)
"""Nodes behind all calls of functions: n functions that each call the next twice have 2**n.
Exported networks that are functions throughout have a few thousand."""
