"""The formal kernel: whether two models are the same function, for all inputs and sizes."""

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
