"""The same layer as other frameworks would pad it: candidates, moves, and when two ways differ."""

from onnxpad.moving.candidates import Candidate, candidates
from onnxpad.moving.moves import moved
from onnxpad.moving.reasons import unchanged_because
from onnxpad.moving.windows import differs, resizes

__all__ = ["Candidate", "candidates", "differs", "moved", "resizes", "unchanged_because"]
