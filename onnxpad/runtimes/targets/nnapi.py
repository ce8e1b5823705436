"""Android NNAPI through onnxruntime.

What it does not take, onnxruntime leaves to the CPU, and copies tensors there and back.
"""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import falls_back, read, takes
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime NNAPI provider (source of 2024)"
_read = read("microsoft/onnxruntime, core/providers/nnapi/nnapi_builtin/builders")
_POOL = _read("impl/pool_op_builder.cc")
_PAD = _read("impl/pad_op_builder.cc")
_FACTORY = _read("op_builder_factory.cc at 07e8de2")

TARGET = Target(
    _VERSION,
    (
        takes(("Conv", "QLinearConv"), by=_read("impl/conv_op_builder.cc")),
        takes(w.POOLS, by=_POOL),
        takes(p.PAD, by=_PAD),
        takes((*CROP, *JOIN, *LOOKUP, *ARITHMETIC, *RANK), by=_FACTORY),
        falls_back((*w.TRANSPOSED, "LpPool", "ConvInteger"), by=_FACTORY),
        falls_back(w.POOLS, t.NOT_TWO_D, by=_POOL),
        falls_back("AveragePool", w.COUNTS, by=_POOL),
        falls_back(w.POOLS, w.CEIL_MODE, by=_POOL),
        falls_back(w.POOLS, w.DILATED, by=_POOL),
        falls_back("MaxPool", w.INDICES, by=_POOL),
        falls_back(p.PAD, t.opset_below(11), by=_PAD),
        falls_back(p.PAD, p.MIRRORS, by=_PAD),
        falls_back(p.PAD, p.COMPUTED, by=_PAD),
        falls_back(p.PAD, p.CROPS, by=_PAD),
        falls_back(p.PAD, ~t.tensor_rank(1, 2, 3, 4), by=_PAD),
    ),
)
