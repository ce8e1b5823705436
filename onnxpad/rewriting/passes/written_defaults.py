"""Write out attributes that are left to their defaults.

What: kernel_shape, strides, dilations, group, pads, auto_pad, ceil_mode, count_include_pad and
storage_order of convolutions and pools, as far as the opset has them, and mode of Pad nodes. Some
runtimes have other defaults, or none.

Exact: always.

Refuses: nothing; padding that cannot be read is left.

Cost: none.

Example: MaxPool kernel_shape=[2, 2] of opset 8 becomes MaxPool kernel_shape=[2, 2] strides=[1, 1]
pads=[0, 0, 0, 0] auto_pad=NOTSET storage_order=0.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.expansion import Made
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue, Kind, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import refuse, require, require_windows

REMOVES: set[Form] = set()
ADDS: set[Form] = set()
_WINDOWS = (Kind.CONVOLUTION, Kind.TRANSPOSED, Kind.MAX, Kind.AVERAGE, Kind.LP)


def rewrite(chain: Chain) -> PassResult:
    """Say what the defaults are."""
    written = dict(chain.written.attributes)
    if chain.op.kind is Kind.PAD:
        wanted: dict[str, AttributeValue] = {"mode": "constant"}
    elif chain.op.kind in _WINDOWS and not chain.trouble and chain.axes:
        wanted = _of_windows(chain)
    else:
        refuse("no attribute with a default", moot=True)
    require_windows(chain)
    missing = {name: value for name, value in wanted.items() if name not in written}
    require(missing, "everything is written", moot=True)
    composer = Composer(chain.opset, chain.dtype)
    node = composer.itself(sets=missing)
    return composer.finish(*(Made(node.step, index) for index in range(len(chain.written.outputs))))


def _of_windows(chain: Chain) -> dict[str, AttributeValue]:
    op = chain.op
    wanted: dict[str, AttributeValue] = {
        "kernel_shape": tuple(axis.kernel for axis in chain.axes),
        "strides": tuple(axis.stride for axis in chain.axes),
    }
    if isinstance(chain.padding, Pads) and not chain.output_shape:
        wanted["pads"] = chain.padding.flat
        if op.auto_pad and not op.domain:
            wanted["auto_pad"] = "NOTSET"
    if op.kind is Kind.AVERAGE and chain.opset >= Since.COUNT_INCLUDE_PAD:
        wanted["count_include_pad"] = 0
    if op.domain:
        return wanted
    if op.weight is not None:
        wanted["group"] = 1
    if chain.opset >= op.dilations:
        wanted["dilations"] = tuple(axis.dilation for axis in chain.axes)
    if op.ceil_mode and chain.opset >= op.ceil_mode:
        wanted["ceil_mode"] = 0
    if op.kind is Kind.MAX and chain.opset >= Since.STORAGE_ORDER:
        wanted["storage_order"] = 0
    return wanted
