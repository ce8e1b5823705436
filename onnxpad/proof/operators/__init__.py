"""The rules of operators, a function each, over whole arrays of any domain."""

from onnxpad.proof.operators import arithmetic, moving, windowed

__all__ = ["arithmetic", "moving", "windowed"]
