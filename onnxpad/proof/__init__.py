"""The formal kernel: whether two models are the same function, for all inputs and sizes.

`graphs` reads both models, `classes` gives equal tensors one number, `cuts` finds where a change
begins and ends, `equalities` goes from change to change. `regions` compares one change at one
size: `evaluation` runs the rules in `operators` over a `domain`, the `formal` one over a `field`,
`floats` for numbers, or shapes alone; `sized` numbers tell how they grow with open sizes. `sizes`
says at which sizes that is enough (`inner_sizes` and `channels` make it less). `counterexamples`
looks for numbers that differ. `alone` computes one operator. The room imports nothing of onnxpad.
"""

from onnxpad.proof.clock import Clock
from onnxpad.proof.counterexamples import Counterexample, OutputCell
from onnxpad.proof.equalities import Limits, Proved
from onnxpad.proof.proving import Proof, prove

__all__ = [
    "VERSION",
    "Clock",
    "Counterexample",
    "Limits",
    "OutputCell",
    "Proof",
    "Proved",
    "prove",
]

VERSION = 1
"""Of what a proof means; certificates name it."""
