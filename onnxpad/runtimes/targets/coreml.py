"""Apple CoreML through onnxruntime, ML Program format.

What it does not take, onnxruntime leaves to the CPU, and copies tensors there and back.
"""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import Condition, falls_back, read, reported, takes
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime CoreML provider, ML Program (source of 2026)"
_read = read("microsoft/onnxruntime, core/providers/coreml/builders/impl")
_POOL = _read("pool_op_builder.cc")
_TRANSPOSED = _read("convtranspose_op_builder.cc")
_PAD = _read("pad_op_builder.cc")

_UNEQUAL_PADS = Condition(
    "not all its pads are equal", w.of_pads(lambda _, p: len(set(p.flat)) > 1)
)

TARGET = Target(
    _VERSION,
    (
        takes("Conv", by=_read("conv_op_builder.cc")),
        takes(w.POOLS, by=_POOL),
        takes(w.TRANSPOSED, by=_TRANSPOSED),
        takes(p.PAD, by=_PAD),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_read("op_builder_factory.cc")),
        falls_back((*w.QUANTISED, "LpPool"), by=_read("op_builder_factory.cc, no builder")),
        falls_back(w.POOLS, t.NOT_TWO_D, by=_POOL),
        falls_back(w.POOLS, w.CEIL_MODE, by=_POOL),
        falls_back(w.POOLS, w.DILATED, by=_POOL),
        falls_back("MaxPool", w.INDICES, by=_POOL),
        falls_back(w.TRANSPOSED, w.SAME, by=_TRANSPOSED),
        falls_back(w.TRANSPOSED, _UNEQUAL_PADS, by=_TRANSPOSED),
        falls_back(w.TRANSPOSED, w.PADS_UNWRITTEN, ~w.AUTO_PAD, by=_TRANSPOSED),
        falls_back(w.TRANSPOSED, w.OUTPUT_PADDING, by=_TRANSPOSED),
        falls_back(w.TRANSPOSED, w.OUTPUT_SHAPE, by=_TRANSPOSED),
        falls_back(w.TRANSPOSED, w.WEIGHT_COMPUTED, by=_TRANSPOSED),
        falls_back(p.PAD, t.opset_below(11), by=_PAD),
        falls_back(p.PAD, p.COMPUTED, by=_PAD),
        falls_back(p.PAD, p.CROPS, by=_PAD),
        falls_back(p.PAD, p.mode("edge", "wrap"), by=_PAD),
        falls_back(p.PAD, p.REFLECT, p.BEYOND_LAST_TWO, by=_PAD),
        falls_back(
            p.PAD,
            p.REFLECT,
            by=reported("microsoft/onnxruntime issue 28022", "14 reflect Pads, 14 partitions"),
        ),
        falls_back(p.PAD, p.CONSTANT, p.VALUE_LEFT_OUT, by=_PAD),
    ),
    also=("core-ml",),
)
