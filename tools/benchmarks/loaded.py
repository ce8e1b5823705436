"""Everything that inspect and rewrite load at their first use, loaded at once."""

from __future__ import annotations

from onnxpad.inspection import inspect
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.runtimes.targets import all_targets
from onnxpad.runtimes.traps import all_rules

__all__ = ["inspect", "rewrite"]

LOADED = (all_passes(), all_targets(), all_rules())
