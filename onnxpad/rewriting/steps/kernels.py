"""Kernels of convolutions with more taps of 0, or of the zero point of the weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from onnxpad.geometry.budgets import CONSTANT, WINDOW
from onnxpad.padding.chain import Chain
from onnxpad.padding.expansion import Expansion, Grown, Read
from onnxpad.padding.operators import AttributeValue
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import refuse, require

_MOST_GROWTH = 16


def require_kernel(chain: Chain, fronts: Sequence[int], backs: Sequence[int]) -> None:
    """Leave alone a weight that cannot get so many taps in front of its own and behind."""
    rows = zip(chain.axes, fronts, backs, strict=True)
    kernel = [axis.kernel + front + back for axis, front, back in rows]
    pairs = zip(chain.axes, kernel, strict=True)
    span = max(axis.dilation * (taps - 1) + 1 for axis, taps in pairs)
    require(span <= WINDOW.most, WINDOW.reason(f"its window would span {span:,}"))
    filters = prod(size for size in (chain.weight.shape or ())[:2] if isinstance(size, int))
    old = filters * prod(axis.kernel for axis in chain.axes)
    new = filters * prod(kernel)
    fits = new <= max(CONSTANT.most, _MOST_GROWTH * old)
    require(fits, CONSTANT.reason(f"its weight would grow to {new:,}"))


def require_weight(chain: Chain) -> None:
    """Leave alone an operator whose kernel can get no more taps."""
    if chain.op.weight is None:
        refuse("a pool has no weights to extend")
    if chain.op.name == "DeformConv":
        refuse("DeformConv has an offset for each tap of its kernel")
    if not chain.weight.is_constant:
        refuse("its weight is no constant of the model, sparse, or an input can replace it")
    if chain.op.quantised and not chain.weight.zero_point_is_constant:
        refuse("the zero point of its weight is no constant of the model")


def with_taps(
    chain: Chain,
    fronts: Sequence[int],
    backs: Sequence[int],
    sets: Mapping[str, AttributeValue],
    *,
    removes: Sequence[str] = (),
    steps: Sequence[int] = (),
) -> Expansion:
    """The operator with more taps of 0, or of the zero point, around its own.

    Along each spatial axis `fronts` and `backs` taps, and the own ones `steps` apart.
    """
    weight, zero = chain.op.weight or 0, chain.op.weight_zero_point
    has_point = zero is not None and chain.written.inputs[zero : zero + 1] == (True,)
    apart = (1, 1, *steps) if steps else ()
    point = Read(zero) if has_point and zero else None
    taps = Grown(Read(weight), (0, 0, *fronts), (0, 0, *backs), point, apart)
    if chain.attribute("kernel_shape", ()):
        rows = zip(fronts, chain.axes, backs, steps or (1,) * chain.rank, strict=True)
        kernel = tuple(a + (axis.kernel - 1) * step + 1 + b for a, axis, b, step in rows)
        sets = {**sets, "kernel_shape": kernel}
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(composer.itself({weight: taps}, sets=sets, removes=removes))


def unsaid(chain: Chain) -> tuple[str, ...]:
    """Attributes that explicit pads make wrong or idle."""
    written = dict(chain.written.attributes)
    idle = ("ceil_mode",) if written.get("ceil_mode") else ()
    return (*idle, "auto_pad") if written.get("auto_pad", "NOTSET") != "NOTSET" else idle
