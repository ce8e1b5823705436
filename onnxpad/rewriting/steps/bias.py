"""A bias that is added behind a convolution."""

from __future__ import annotations

from onnxpad.padding.chain import Chain
from onnxpad.padding.expansion import Expansion, Made, Read
from onnxpad.padding.operators import CONV_BIAS, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import require


def with_bias_behind(composer: Composer, chain: Chain, data: Made) -> Expansion:
    """`data` with the bias of the convolution, which refuses before Add broadcasts."""
    reason = f"Add of opset {chain.opset} has no broadcasting that a bias needs"
    require(chain.opset >= Since.BROADCASTING, reason)
    bias = composer.unsqueeze(Read(CONV_BIAS), range(1, chain.rank + 1), role="bias")
    return composer.finish(composer.add("Add", data, bias, role="with_bias"))
