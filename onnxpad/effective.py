"""The pads that a chain really has, and the sizes that follow; or why they cannot be known."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import AutoPad, Chain, Pads, Skip, Unclear
from onnxpad.geometry.axis import Axis, output_size, smaller_than_window
from onnxpad.geometry.rounding import overhang
from onnxpad.geometry.same import same_output, same_pads
from onnxpad.geometry.size import Size, plus, show
from onnxpad.geometry.transposed import full_size, same_crop, shape_crop, transposed_output
from onnxpad.missing import missing_sizes, shape_to_give
from onnxpad.ops import Kind

PAD_HAS_INPUTS = 11


def effective_pads(chain: Chain) -> Pads | Skip:
    """Begin and end pads in cells over the spatial axes of the operator's own input.

    auto_pad follows the formula of the ONNX text with the dilated kernel, never what one
    runtime does. A Skip says which size is missing and how to give it.
    """
    if chain.trouble:
        return Skip(chain.trouble.reason, chain.trouble.hints)
    match chain.padding:
        case Unclear(reason, hints):
            return Skip(reason, hints)
        case padding if chain.op.kind is Kind.TRANSPOSED:
            return _transposed_pads(chain, padding)
        case AutoPad.VALID:
            return Pads.zero(chain.rank)
        case Pads() as pads:
            return pads
        case AutoPad() as mode:
            return _same(chain, mode)


def short_axis(chain: Chain, pads: Pads) -> Skip | None:
    """A Skip where the padded input is shorter than the window on some axis.

    A transposed convolution spreads its input, which is never too short; ceil_mode gives a
    window that lacks less than a stride.
    """
    if chain.op.kind is Kind.TRANSPOSED:
        return None
    for index, axis in enumerate(chain.axes):
        sides = pads.begins[index], pads.ends[index]
        if smaller_than_window(axis, *sides, ceil_mode=chain.ceil_mode):
            return Skip(
                f"axis {chain.first_axis + index} has {show(axis.size)} cells, with pads "
                f"{sides[0]},{sides[1]} fewer than the window's {axis.span}"
            )
    return None


def same_is_disputed(chain: Chain) -> bool:
    """Whether runtimes compute SAME otherwise than the ONNX text says, or refuse it.

    onnxruntime refuses convolutions with dilations, leaves dilation out of pools and shifts
    windows where the kernel is shorter than the stride.
    """
    return any(axis.dilation > 1 or axis.kernel < axis.stride for axis in chain.axes)


def output_sizes(chain: Chain) -> tuple[Size | None, ...]:
    """Output size of every spatial axis, as far as it is known."""
    if chain.trouble:
        return (None,) * chain.rank
    same = chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
    if same and chain.op.kind is not Kind.TRANSPOSED:
        return tuple(
            None if axis.size is None else same_output(axis.size, axis.stride)
            for axis in chain.axes
        )
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return (None,) * chain.rank
    sides = zip(chain.axes, pads.begins, pads.ends, strict=True)
    if chain.op.kind is Kind.TRANSPOSED:
        extra = chain.output_padding or (0,) * chain.rank
        return tuple(
            transposed_output(axis, begin, end, more)
            for (axis, begin, end), more in zip(sides, extra, strict=True)
        )
    return tuple(output_size(a, begin, end, ceil_mode=chain.ceil_mode) for a, begin, end in sides)


def _same(chain: Chain, mode: AutoPad) -> Pads | Skip:
    lower = mode is AutoPad.SAME_LOWER
    found = [same_pads(axis, lower=lower) for axis in chain.axes]
    known = [pair for pair in found if pair is not None]
    if len(known) == len(found):
        return Pads(tuple(b for b, _ in known), tuple(e for _, e in known))
    missing = [index for index, pair in enumerate(found) if pair is None]
    return missing_sizes(chain, mode, missing)


def _transposed_pads(chain: Chain, padding: AutoPad | Pads) -> Pads | Skip:
    upper = (padding is AutoPad.SAME_UPPER) is not chain.legacy_split
    extra = chain.output_padding or (0,) * chain.rank
    if chain.output_shape:
        full = [full_size(axis) for axis in chain.axes]
        missing = [index for index, size in enumerate(full) if not isinstance(size, int)]
        if missing:
            parts = ", ".join(f"axis {chain.first_axis + index}" for index in missing)
            reason = f"output_shape needs the size of {parts}"
            axes = [chain.axes[index] for index in missing]
            return shape_to_give(reason, axes, [chain.output_shape[index] for index in missing])
        pairs = [
            shape_crop(size, more, wanted, upper=upper)
            for size, more, wanted in zip(full, extra, chain.output_shape, strict=True)
            if isinstance(size, int)
        ]
    elif padding is AutoPad.VALID:
        return Pads.zero(chain.rank)
    elif isinstance(padding, Pads):
        return padding
    else:
        pairs = [
            same_crop(axis, more, upper=upper) for axis, more in zip(chain.axes, extra, strict=True)
        ]
    return Pads(tuple(b for b, _ in pairs), tuple(e for _, e in pairs))


def axes_behind(chain: Chain, pads: Pads) -> tuple[Axis, ...]:
    """The axes as an operator sees them behind a Pad node with `pads`."""
    return tuple(
        replace(axis, size=None if axis.size is None else plus(axis.size, begin + end))
        for axis, begin, end in zip(chain.axes, pads.begins, pads.ends, strict=True)
    )


def axes_in_front(chain: Chain, pads: Pads) -> tuple[Axis, ...]:
    """The axes in front of a Pad node with `pads`, whose result the operator reads."""
    return tuple(
        replace(axis, size=None if axis.size is None else plus(axis.size, -begin - end))
        for axis, begin, end in zip(chain.axes, pads.begins, pads.ends, strict=True)
    )


def rounds_up(chain: Chain) -> bool:
    """Whether ceil_mode is set and matters; SAME gives ceil(size/stride) windows anyway."""
    return chain.ceil_mode and chain.padding not in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)


def floored(chain: Chain, pads: Pads) -> Pads | Skip:
    """Pads that give the same windows without ceil_mode."""
    if not rounds_up(chain):
        return pads
    sides = list(zip(chain.axes, pads.begins, pads.ends, strict=True))
    if any(end >= axis.span for axis, _, end in sides):
        return Skip(f"the pads {list(pads.flat)} reach the window and ceil_mode is set")
    extra = [overhang(axis, begin, end) for axis, begin, end in sides]
    if any(extra) and chain.counts_padding:
        reason = "the average counts its padding, but not the cells that its last window lacks"
        return Skip(reason, ("--pass counted-padding",))
    return Pads(pads.begins, tuple(e + more for e, more in zip(pads.ends, extra, strict=True)))


def same_windows_when_padded(chain: Chain, moved: Pads, kept: Pads | None = None) -> bool:
    """Whether ceil_mode gives as many windows when `moved` is data rather than padding.

    `chain.axes` are the sizes without `moved`; `kept` stays padding on both sides. The rule
    that drops a window which starts in the end padding sees a Pad node's cells as data. Where
    a size is not known, True only if no size drops a window on either side.
    """
    kept = kept or Pads.zero(chain.rank)
    for index, axis in enumerate(chain.axes):
        begin, end = moved.begins[index], moved.ends[index]
        own_begin, own_end = kept.begins[index], kept.ends[index]
        grown = replace(axis, size=None if axis.size is None else plus(axis.size, begin + end))
        inside = output_size(axis, begin + own_begin, end + own_end, ceil_mode=True)
        outside = output_size(grown, own_begin, own_end, ceil_mode=True)
        if inside is None or outside is None:
            return False
        if isinstance(inside, int) and inside != outside:
            return False
    return True
