"""What takes the place of one node where a chain is not enough: a small graph of operators."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from onnxpad.padding.operators import Attributes


class Read(NamedTuple):
    """The tensor that the node reads at one of its inputs."""

    position: int


class Named(NamedTuple):
    """A tensor of the model, visible where the node stands."""

    tensor: str


class Made(NamedTuple):
    """An output of an earlier step."""

    step: int
    output: int = 0


class Numbers(NamedTuple):
    """A new constant; `role` is the last part of its name. One value alone fills all cells."""

    role: str
    dtype: str
    dims: tuple[int, ...]
    values: tuple[int | float, ...]


class Grown(NamedTuple):
    """A constant tensor of the model with more cells before and after each of its axes.

    The new cells hold 0, or `zero_point`: a constant of one element, or of one for each index of
    axis 0. Along each axis the old cells lie `steps` apart; () stands for 1.
    """

    source: Read | Named
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    zero_point: Read | Named | None = None
    steps: tuple[int, ...] = ()


class Reshaped(NamedTuple):
    """A constant tensor of the model, its values in another shape.

    With `groups` it is the weight of a transposed convolution as a convolution reads it: its first
    two axes swapped within each group, and each axis of its kernel reversed.
    """

    source: Read | Named
    dims: tuple[int, ...]
    groups: int = 0


Operand: TypeAlias = Read | Named | Made | Numbers | Grown | Reshaped


class Step(NamedTuple):
    """A new node; `role` is the last part of its name."""

    role: str
    op_type: str
    inputs: tuple[Operand | None, ...]
    attributes: Attributes = ()
    outputs: int = 1
    domain: str = ""


class Itself(NamedTuple):
    """The node itself, which keeps its name and everything that is not said here.

    `inputs` are the positions at which it reads something else (None: nothing any more), `sets`
    attributes that it gets and `removes` names of attributes that it loses.
    """

    inputs: tuple[tuple[int, Operand | None], ...] = ()
    sets: Attributes = ()
    removes: tuple[str, ...] = ()


class Expansion(NamedTuple):
    """Steps in an order in which each reads what stands before it.

    `results` say which output of which step is each output of the node. Where no step is
    `Itself`, the node goes.
    """

    steps: tuple[Step | Itself, ...]
    results: tuple[Made, ...]

    @property
    def writes_integers(self) -> bool:
        """Whether a new constant holds whole numbers."""
        operands: list[Operand | None] = []
        for step in self.steps:
            match step:
                case Step(inputs=read):
                    operands += read
                case Itself(inputs=changed):
                    operands += (operand for _, operand in changed)
        return any(isinstance(one, Numbers) and "int" in one.dtype for one in operands)

    @property
    def itself(self) -> int | None:
        """Which step is the node itself."""
        indices = [index for index, step in enumerate(self.steps) if isinstance(step, Itself)]
        return indices[0] if indices else None
