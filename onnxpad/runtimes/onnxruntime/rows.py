"""What the shared rules of targets built on onnxruntime ask besides the shared vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads
from onnxpad.padding.forms import mirrors_beyond
from onnxpad.runtimes.conditions.rows import Condition
from onnxpad.runtimes.conditions.windows import writes
from onnxpad.runtimes.conditions.words import AGAINST_TEXT, NEGATIVE_PADS, word_called
from onnxpad.runtimes.onnxruntime import kernels
from onnxpad.runtimes.onnxruntime.pad_fusion import Way, fused_pads, harms, loses_count

TABLES = Path(__file__).with_name("tables.toml")
_MOST_AXES = 2
"""Of a convolution that WebGPU makes a matrix product of."""


def _is_product(chain: Chain) -> bool:
    """Whether WebGPU makes a matrix product of a convolution that pads at its ends alone.

    Where the kernel is one cell, or as large as the input, it looks at the begin pads alone
    (core/providers/webgpu/nn/conv.cc, and conv.ts of js/web). A Pad that onnxruntime folds counts;
    sizes that the file leaves open are taken to be no kernel's.
    """
    own, front = effective_pads(chain), fused_pads(chain) or Pads.zero(chain.rank)
    if isinstance(own, Skip) or chain.rank > _MOST_AXES or chain.attribute("group", 1) != 1:
        return False
    pads, axes = own + front, axes_in_front(chain, front)
    if any(pads.begins) or not any(pads.ends):
        return False
    single = all(axis.kernel == axis.stride == 1 for axis in axes)
    return single or all(axis.kernel == axis.size for axis in axes)


def _fused(text: str, way: Way) -> Condition:
    """Whether onnxruntime folds a Pad in front into the operator, wrongly in this way."""
    return Condition(f"a Pad node that writes 0 {text}", lambda chain: way in harms(chain))


_SAME = word_called("same").text
FACTS: Mapping[str, Condition] = {
    "against_text": AGAINST_TEXT,
    "same_with_dilation": Condition(
        f"{_SAME}, and {word_called('dilated').text}", kernels.same_with_dilation
    ),
    "same_shifts": Condition(
        f"{_SAME}, and no window reads the last two cells of an axis, "
        "which SAME takes for negative padding",
        kernels.same_shifts,
    ),
    "same_is_refused": Condition(
        f"{_SAME}, and {word_called('last_cell_unread').text}", kernels.same_is_refused
    ),
    "pads_written": Condition("`pads` is written", lambda chain: writes(chain, "pads")),
    "pads_written_reach_kernel": Condition(
        "a value of `pads` is as large as the kernel", kernels.pads_reach_kernel
    ),
    "negative_attribute": Condition(NEGATIVE_PADS, kernels.has_negative_pads),
    "shorter_than_window": Condition(
        "the padded input is shorter than one window", kernels.is_shorter_than_window
    ),
    "output_padding_beyond_stride": Condition(
        "output_padding is not smaller than the stride", kernels.has_output_padding_beyond_stride
    ),
    "average_overhangs": Condition(
        "it counts padding, and a window hangs over by ceil_mode", kernels.average_overhangs
    ),
    "mirrors_too_far": Condition("it mirrors more cells than the input has", mirrors_beyond),
    "no_cpu_kernel": Condition(
        "there is no kernel for this element type or opset", kernels.has_no_cpu_kernel
    ),
    "int8_weight": Condition("its weight is int8", lambda chain: chain.weight.dtype == "int8"),
    "matrix_product": Condition(
        "it pads at the ends alone, those of a Pad of zeros in front included, and its kernel is "
        "one cell or as large as the input",
        _is_product,
    ),
    "fused_weight": _fused("makes its weight", Way.WEIGHT),
    "fused_value": _fused("stands in front, and a cell may be negative", Way.VALUE),
    "fused_window": _fused("stands in front, and ceil_mode has a window in its cells", Way.WINDOW),
    "fused_beyond_kernel": _fused("and the own pads reach the kernel together", Way.LOAD),
    "fused_beside_identity": _fused(
        "stands in front, and an Identity beside it makes a result", Way.COPY
    ),
    "fused_uncounted": Condition(
        "a Pad node stands in front, and count_include_pad is 0", loses_count
    ),
}
