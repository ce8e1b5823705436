"""Names of passes and targets, as `onnxpad explain` lists them."""

from onnxpad.rewriting.passes import all_passes
from onnxpad.runtimes.targets import all_targets

PASSES = tuple(all_passes())
TARGETS = tuple(all_targets())
