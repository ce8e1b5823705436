"""The formal kernel: whether two models are the same function, for all inputs and sizes."""

from onnxpad.proof.call import Readings
from onnxpad.proof.counterexamples import Counterexample
from onnxpad.proof.equalities import Limits, Proved
from onnxpad.proof.proving import Proof, prove

__all__ = ["Counterexample", "Limits", "Proof", "Proved", "Readings", "prove"]
