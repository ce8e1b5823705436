"""Android NNAPI through onnxruntime."""

from __future__ import annotations

from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.companions import ARITHMETIC, CROP, JOIN, LOOKUP, RANK
from onnxpad.runtimes.conditions.rows import read, refuses, takes
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
        refuses((*w.TRANSPOSED, "LpPool", "ConvInteger"), by=_FACTORY),
        refuses(w.POOLS, t.NOT_TWO_D, by=_POOL),
        refuses("AveragePool", w.COUNTS, by=_POOL),
        refuses(w.POOLS, w.CEIL_MODE, by=_POOL),
        refuses(w.POOLS, w.DILATED, by=_POOL),
        refuses("MaxPool", w.INDICES, by=_POOL),
        refuses(p.PAD, t.opset_below(11), by=_PAD),
        refuses(p.PAD, p.MIRRORS, by=_PAD),
        refuses(p.PAD, p.COMPUTED, by=_PAD),
        refuses(p.PAD, p.CROPS, by=_PAD),
        refuses(p.PAD, ~t.tensor_rank(1, 2, 3, 4), by=_PAD),
    ),
)
