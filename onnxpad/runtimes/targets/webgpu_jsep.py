"""onnxruntime-web's older WebGPU provider, JSEP: kernels in TypeScript.

`import 'onnxruntime-web'` in a bundler and its /all bundle give it, up to 1.30 at least; in 1.20
/webgpu does as well. onnxruntime means to remove it: import 'onnxruntime-web/webgpu', the target
webgpu, wherever your release has it. In the log its nodes are placed on Js. The rows were measured
with a software Vulkan driver.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads
from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import DEQUANTISES, EVERYTHING
from onnxpad.runtimes.conditions.rows import (
    Condition,
    falls_back,
    measured,
    miscomputes,
    refuses,
    since,
    takes,
    until,
)
from onnxpad.runtimes.onnxruntime.pad_fusion import fused_pads
from onnxpad.runtimes.onnxruntime.rows import (
    fusion_rows,
    loader_rows,
    older_rows,
    product_rows,
)
from onnxpad.runtimes.targets import Target

_VERSION = "onnxruntime-web 1.30.0, JSEP, Chromium 156, SwiftShader"
_RELEASES = ("1.20", "1.23", "1.27", "1.30")
_seen = measured(_VERSION)
_in_1_20, _in_1_23, _in_1_27 = (
    measured(f"onnxruntime-web {one}, JSEP") for one in ("1.20.1", "1.23.2", "1.27.0")
)
_OFF_CENTRE = Condition(
    "a begin pad is not half of begin and end together, rounded down, which JSEP takes it for",
    w.of_sides(lambda _, begin, end: begin != (begin + end) // 2),
)


def _differ(chain: Chain) -> bool:
    """Whether pads differ once onnxruntime has fused a Pad in front into them."""
    if not isinstance(chain.padding, Pads):
        return False
    more = fused_pads(chain) or Pads.zero(chain.rank)
    return len(set((chain.padding + more).flat)) > 1


_PADS_DIFFER = Condition(
    "not all values of `pads` are equal, those of a Pad of zeros in front included", _differ
)

_AXES_FROM_END = Condition("it lists axes from the end", p.of_step(lambda step: step.from_end))

TARGET = Target(
    _VERSION,
    (
        takes(w.WINDOWS, by=_seen("convolutions and pools of 1 and 2 axes, 3-D convolutions")),
        takes(p.PAD, by=_seen("Pad of modes constant, reflect and edge")),
        takes(EVERYTHING, by=_seen("rewritten forms with Slice, Concat, Gather and arithmetic")),
        falls_back(("LpPool", "ConvInteger"), by=_seen("operators that the CPU ran")),
        falls_back(("MaxPool", *p.PAD), t.EIGHT_BIT, by=_seen("MaxPool and Pad of int8 and uint8")),
        falls_back(
            p.PAD,
            p.AT_RUN_TIME,
            by=_seen("Pad by computed pads"),
            says="what computes its pads stays on the CPU",
        ),
        miscomputes("QLinearConv", by=_seen("QLinearConv")),
        miscomputes(
            "Conv",
            f.DEQUANTISED,
            by=_seen("convolutions between QuantizeLinear and DequantizeLinear"),
        ),
        miscomputes(
            DEQUANTISES,
            by=_seen("uint8 with a zero point, and multiples of 4 cells"),
            says="JSEP computes a DequantizeLinear of most bytes wrongly",
        ),
        *since(
            "1.30",
            miscomputes("Conv", w.SAME_CUTS_BEGIN, by=_seen("SAME, kernels below the stride")),
        ),
        refuses("Conv", w.KERNEL_UNWRITTEN, by=_seen("convolutions without kernel_shape")),
        refuses("Conv", t.THREE_D, w.SAME_LOWER, by=_seen("3-D SAME_LOWER")),
        refuses("Conv", t.THREE_D, _PADS_DIFFER, by=_seen("3-D convolutions, pads that differ")),
        refuses("Conv", t.THREE_D, w.GROUPED, by=_seen("3-D convolutions with groups")),
        refuses(w.TRANSPOSED, t.THREE_D, by=_seen("3-D ConvTranspose")),
        miscomputes(w.TRANSPOSED, _OFF_CENTRE, by=_seen("asymmetric ConvTranspose")),
        miscomputes(
            w.TRANSPOSED,
            w.NOTHING_TO_CROP,
            by=_seen("SAME ConvTranspose, kernels below the stride"),
        ),
        miscomputes(w.TRANSPOSED, w.OUTPUT_SHAPE, ~w.SAME_UPPER, by=_seen("output_shape")),
        refuses(w.POOLS, t.THREE_D, by=_seen("3-D pools")),
        refuses(w.POOLS, w.CEIL_MODE, by=_seen("pools with ceil_mode")),
        miscomputes(w.POOLS, w.SPREAD, by=_seen("pools with dilations")),
        miscomputes(w.POOLS, w.SAME_CUTS_BEGIN, by=_seen("SAME pools, kernels below the stride")),
        refuses("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        miscomputes(p.PAD, p.WRAP, by=_seen("Pad in mode wrap")),
        miscomputes(
            p.PAD,
            _AXES_FROM_END,
            by=_seen("Pad with axes counted from the end"),
            unshown="small models count axes from the front",
        ),
        refuses(
            p.PAD,
            p.LISTS_AXES,
            by=_seen("Pad with axes behind convolutions and pools"),
        ),
        *loader_rows(_seen, checks_pads=False),
        *fusion_rows(_seen),
        *product_rows(_seen),
        *until(
            "1.27",
            miscomputes(
                "Conv",
                w.SAME_UPPER,
                w.ASYMMETRIC,
                w.STRIDED,
                t.spatial_axes(1, 2),
                by=_in_1_27("SAME_UPPER with strides"),
            ),
            miscomputes(w.POOLS, w.SAME_UPPER, w.ASYMMETRIC, by=_in_1_27("SAME_UPPER pools")),
        ),
        *until(
            "1.20",
            miscomputes(
                w.TRANSPOSED,
                w.ASYMMETRIC,
                w.GROUPED | t.ONE_D,
                by=_in_1_20("asymmetric ConvTranspose, 1-D or with groups"),
            ),
            miscomputes(w.TRANSPOSED, t.ONE_D, w.OUTPUT_PADDING, by=_in_1_20("1-D output_padding")),
            falls_back((*w.WINDOWS, *p.PAD), t.opset_above(20), by=_in_1_20("opset 21")),
        ),
        *older_rows("onnxruntime-web", _RELEASES),
    ),
    also=("jsep", "ort-web-jsep"),
    releases=_RELEASES,
)
