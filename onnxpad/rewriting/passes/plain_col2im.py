"""Write the pads of Col2Im as a Slice behind it.

What: Col2Im folds its blocks into the whole image, borders included, and a Slice takes the
borders away. image_shape grows by the pads: a new constant, or an Add where it is computed.

Exact: always; pads of Col2Im do nothing but crop.

Refuses: block_shape that is computed.

Cost: a Slice, and the border cells of the image.

Example: Col2Im pads=[1, 0, 0, 1] of a 5x5 image becomes Col2Im of 6x6 and Slice [1:, :-1].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.expansion import Numbers, Operand, Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import refuse, require

REMOVES = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}
ADDS: set[Form] = set()

_IMAGE_SHAPE = 1


def rewrite(chain: Chain) -> PassResult:
    """Fold the whole image and crop it."""
    require(chain.op.kind is Kind.FOLD, "no Col2Im", moot=True)
    pads = chain.padding
    if chain.trouble or not isinstance(pads, Pads):
        refuse(chain.trouble.reason if chain.trouble else "its pads are not known")
    require(any(pads.flat), "it does not crop", moot=True)
    if min(pads.flat) < 0:
        refuse(f"the pads {list(pads.flat)} are negative, the ONNX text has no meaning for it")
    composer = Composer(chain.opset, chain.dtype)
    image = composer.itself({_IMAGE_SHAPE: _whole(composer, chain, pads)}, removes=["pads"])
    return composer.finish(composer.cut(image, pads, chain.first_axis))


def _whole(composer: Composer, chain: Chain, pads: Pads) -> Operand:
    more = tuple(map(sum, pads.sides))
    sizes = [axis.size for axis in chain.axes if isinstance(axis.size, int)]
    if len(sizes) == chain.rank:
        whole = tuple(size + extra for size, extra in zip(sizes, more, strict=True))
        return Numbers("image_shape", "int64", (chain.rank,), whole)
    borders = Numbers("borders", "int64", (chain.rank,), more)
    return composer.add("Add", Read(_IMAGE_SHAPE), borders, role="image_shape")
