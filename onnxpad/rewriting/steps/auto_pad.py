"""Pads as values of auto_pad: which of them says the same for every size that is possible."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.geometry.windows import output_size, same_output, same_pads
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip
from onnxpad.padding.effective_pads import effective_pads, same_is_disputed, short_axis
from onnxpad.padding.operators import Kind


def as_auto_pad(chain: Chain, modes: tuple[AutoPad, ...]) -> Chain | Skip:
    """The chain with the first of `modes` that gives its windows, VALID where it does not pad.

    A chain that says one of them, or VALID, stays as it is.
    """
    if not chain.op.has_windows:
        return Skip("no padded operator", moot=True)
    if chain.padding in (*modes, AutoPad.VALID):
        return Skip("auto_pad says it", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    padless = not any(pads.flat)
    if padless and (chain.op.kind is Kind.TRANSPOSED or not chain.op.auto_pad):
        return Skip("it does not pad", moot=True)
    if refusal := _refusal(chain, padless=padless) or short_axis(chain, pads):
        return refusal
    if padless:
        return replace(chain.with_padding(AutoPad.VALID), ceil_mode=False)
    for mode in modes:
        if _fits(chain, pads, mode):
            return chain.with_padding(mode)
    return _no_mode(chain, pads, modes)


def _no_mode(chain: Chain, pads: Pads, modes: tuple[AutoPad, ...]) -> Skip:
    numbers = list(pads.flat)
    if AutoPad.SAME_LOWER not in modes and _fits(chain, pads, AutoPad.SAME_LOWER):
        return Skip(f"the pads {numbers} are those of SAME_LOWER, the odd cell at the begin")
    return Skip(f"the pads {numbers} are not those of SAME for every size")


def _refusal(chain: Chain, *, padless: bool) -> Skip | None:
    if chain.op.kind is Kind.TRANSPOSED:
        return Skip("the pads of a transposed convolution crop its output")
    if not chain.op.auto_pad:
        return Skip(f"{chain.op.name} has no auto_pad")
    if chain.ceil_mode and not isinstance(chain.padding, AutoPad):
        return Skip("ceil_mode is set, which auto_pad has no use for", ("--pass floor-pool",))
    if not padless and same_is_disputed(chain):
        return Skip("runtimes disagree about SAME with dilations or a kernel below the stride")
    return None


def _fits(chain: Chain, pads: Pads, mode: AutoPad) -> bool:
    return all(_is_same(chain, pads, index, mode) for index in range(chain.rank))


def _is_same(chain: Chain, pads: Pads, index: int, mode: AutoPad) -> bool:
    """Whether one axis has the begin and the windows of SAME; what lies behind is never read.

    Pads that are those of SAME for every size are so for one of which only a remainder is known.
    """
    axis, begin, end = chain.axes[index], pads.begins[index], pads.ends[index]
    lower = mode is AutoPad.SAME_LOWER
    if same_pads(axis._replace(size=None), lower=lower) == (begin, end):
        return True
    wanted = same_pads(axis, lower=lower)
    if wanted is None or wanted[0] != begin:
        return False
    if wanted[1] == end:
        return True
    if axis.size is None or end < wanted[1]:
        return False
    return output_size(axis, begin, end) == same_output(axis.size, axis.stride)
