"""Write averages that do not count their padding as averages without padding, corrected behind.

What: a Pad node writes 0, the average divides by the whole kernel, and a Mul behind makes up for
the padded cells: by the cells of the kernel over the cells of data, a constant. Where a size is
not known, a Div by the average of padded ones does the same while the model runs.

Exact: up to float rounding (one more product, and the rounding of the correction).

Refuses: integer averages, which cannot be corrected; SAME whose size is not known (use
runtime-pads); ceil_mode over end pads as wide as a window; opsets before 7, or before 8 where a
size is not known; unknown element types.

Cost: one Pad node with a padded copy of the input, one Mul over the output, and a constant as
large as one channel of the output, or one for each axis.

Example: AveragePool k3 pads=[1, 1] on 5 cells becomes Pad, AveragePool k3 without pads and Mul by
[1.5, 1, 1, 1, 1.5].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.expansion import Made, Operand, Read
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.divisors import (
    corrections,
    counted_share,
    ones_of_input,
    uncounted_pads,
)
from onnxpad.rewriting.steps.pads import full_pads

REMOVES = {Form.IGNORES_PADDING}
MAY_REMOVE = {Form.CEIL_MODE, Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}
ADDS = {Form.PAD_NODE, Form.AUTO_PAD}

_OLD = ("auto_pad", "pads", "ceil_mode")


def rewrite(chain: Chain) -> PassResult:
    """Pad with zeros, average, and make up for the zeros."""
    pads = uncounted_pads(chain, _refusal)
    if isinstance(pads, Skip):
        return pads
    composer = Composer(chain.opset, chain.dtype)
    sizes = [axis.size for axis in chain.axes if isinstance(axis.size, int)]
    if len(sizes) == chain.rank:
        return _multiplied(composer, chain, pads, sizes)
    return _divided(composer, chain, pads)


def _refusal(chain: Chain) -> Skip | None:
    if chain.op.quantised:
        return Skip("an integer average cannot be corrected behind")
    if chain.opset < Since.BROADCASTING:
        return Skip(f"Mul of opset {chain.opset} does not broadcast shapes")
    known = chain.has_fixed_sizes
    if not known and chain.opset < Since.EXPAND:
        return Skip(f"a size is not known, and opset {chain.opset} has no Expand")
    return None


def _multiplied(composer: Composer, chain: Chain, pads: Pads, sizes: list[int]) -> PassResult:
    factors = corrections(chain, pads, Pads.zero(chain.rank), sizes)
    if isinstance(factors, Skip):
        return factors
    result = _averaged(composer, chain, pads)
    for factor in factors:
        result = composer.add("Mul", result, factor, role=factor.role.replace("factor", "average"))
    return composer.finish(result)


def _divided(composer: Composer, chain: Chain, pads: Pads) -> PassResult:
    result = _averaged(composer, chain, pads)
    padded = _padded(composer, chain, ones_of_input(composer, chain), pads, "share_pad")
    share = counted_share(composer, chain, padded, _bare(chain), pads)
    return composer.finish(composer.add("Div", result, share, role="average"))


def _averaged(composer: Composer, chain: Chain, pads: Pads) -> Made:
    padded = _padded(composer, chain, Read(0), pads, "pad")
    sets = _bare(chain)
    old = [name for name, _ in chain.attributes if name in _OLD and name not in sets]
    return composer.itself({0: padded}, sets=sets, removes=old)


def _padded(composer: Composer, chain: Chain, data: Operand, pads: Pads, role: str) -> Made:
    full = full_pads(chain, pads)
    return composer.pad(data, full.begins, full.ends, Constant(0), role=role)


def _bare(chain: Chain) -> dict[str, AttributeValue]:
    return {"pads": (0,) * (2 * chain.rank)}
