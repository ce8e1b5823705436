"""The pads that a chain really has, the sizes that follow, and which sizes are missing for that."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from onnxpad.errors import counted
from onnxpad.geometry.size import Size, Symbol, form_of, plus, show
from onnxpad.geometry.size_fact import SizeFact
from onnxpad.geometry.windows import (
    Axis,
    full_size,
    output_size,
    overhang,
    same_crop,
    same_output,
    same_pads,
    shape_crop,
    smaller_than_window,
    transposed_output,
)
from onnxpad.padding.chain import AutoPad, Chain, Mark, Pads, Skip, Unclear, is_same
from onnxpad.padding.operators import Kind

_ONE = SizeFact(0, 1)
_SLIDING = (Kind.CONVOLUTION, Kind.MAX, Kind.AVERAGE, Kind.LP)
_FIX = ("give the model's inputs fixed sizes",)


def missing_sizes(chain: Chain, what: str, missing: list[int], *, exact: bool = False) -> Skip:
    """The Skip for spatial axes whose size decides about `what` and is not known.

    `exact` says that only the number helps, and no divisor of it.
    """
    axes = chain.axes
    parts = [
        f"{chain.first_axis + i} ({_which(axes[i].size)}, stride {axes[i].stride})" for i in missing
    ]
    kernel = ",".join(str(axis.kernel) for axis in axes)
    noun = "the size of axis" if len(missing) == 1 else "the sizes of axes"
    reason = f"{what} with kernel {kernel} needs {noun} {' and '.join(parts)}"
    return sizes_to_give(reason, [axes[i] for i in missing], exact=exact)


def sizes_to_give(reason: str, axes: Sequence[Axis], *, exact: bool = False) -> Skip:
    """A Skip with the facts about the model's dimensions that settle these axes."""
    known: dict[str, SizeFact] = {}
    moduli: dict[str, int] = {}
    for axis in axes:
        if isinstance(axis.size, Symbol) and axis.size.root:
            root, modulus = axis.size.root, axis.size.divisor * axis.stride
            known[root] = _ONE if _is_of_batch(axis.size) else axis.size.stated
            moduli[root] = lcm(moduli.get(root, 1), modulus)
    if not moduli:
        return Skip(reason, _FIX)
    facts = tuple((root, known[root].stronger(modulus)) for root, modulus in moduli.items())
    from_roots = all(isinstance(axis.size, Symbol) and axis.size.root for axis in axes)
    if exact or 1 in moduli.values() or not from_roots:
        return Skip(reason, (numbers_text(facts),))
    hints = dict.fromkeys((numbers_text(facts), rests_text(facts)))
    return Skip(reason, tuple(hints), settled_by=facts)


def _is_of_batch(size: Symbol) -> bool:
    """Whether items of a batch lie on the axis as well: it is no image without a batch."""
    return size.stated.is_batch and form_of(size).factor > 1


def numbers_text(facts: Sequence[tuple[str, SizeFact]]) -> str:
    """Options that give sizes of which these facts hold: "--dim 'H=640' --dim 'N=1'"."""
    return facts_text([(root, fact.example) for root, fact in facts])


def rests_text(facts: Sequence[tuple[str, SizeFact]]) -> str:
    """Options that say so: "--dim 'H%2=0' --dim 'W%4=0'"."""
    return facts_text([(root, fact.told) for root, fact in facts])


def facts_text(facts: Sequence[tuple[str, int | str]]) -> str:
    """Options that say them: "--dim 'N=1' --dim 'H%2=0'"."""
    said = ((name, f"={fact}" if isinstance(fact, int) else fact) for name, fact in facts)
    return " ".join(f"--dim '{name}{fact}'" for name, fact in said)


def settling(skips: Sequence[Skip]) -> tuple[tuple[tuple[str, SizeFact], ...], int]:
    """Facts about dimensions with which none of `skips` lacks a size, and how many that are."""
    found: dict[str, SizeFact] = {}
    helped = [skip for skip in skips if skip.settled_by]
    for root, fact in (pair for skip in helped for pair in skip.settled_by):
        found[root] = found.get(root, fact).and_also(fact) or fact
    return tuple(found.items()), len(helped)


def _which(size: Size | None) -> str:
    if size is None:
        return "which nothing in the model tells"
    return f"which is '{show(size)}'"


def effective_pads(chain: Chain) -> Pads | Skip:
    """Begin and end pads in cells over the spatial axes of the operator's own input.

    auto_pad follows the formula of the ONNX text with the dilated kernel, never what one
    runtime does. A Skip says which size is missing and how to give it.
    """
    match chain.padding:
        case Unclear() as unclear:
            return unclear.as_skip()
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
                f"axis {chain.first_axis + index} has {_cells_text(axis.size)}, with pads "
                f"{sides[0]},{sides[1]} fewer than the window's {axis.span}"
            )
    return None


def _cells_text(size: Size | None) -> str:
    return counted(size, "cell") if isinstance(size, int) else f"{show(size)} cells"


def without_windows(chain: Chain) -> str:
    """Why the ONNX text gives a convolution or a pool no output cell; '' where it gives some.

    Sizes that are not known count as large enough.
    """
    if chain.trouble or chain.op.kind not in _SLIDING:
        return ""
    pads = effective_pads(chain)
    short = short_axis(chain, pads) if isinstance(pads, Pads) else None
    if short is None:
        return ""
    known = [size for size in output_sizes(chain) if isinstance(size, int)]
    return f"{short.reason}: its output would have {counted(min(known), 'cell')} there"


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
    if is_same(chain.padding) and chain.op.kind is not Kind.TRANSPOSED:
        sizes = ((axis.size, axis.stride) for axis in chain.axes)
        return tuple(None if n is None else same_output(n, stride) for n, stride in sizes)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return (None,) * chain.rank
    sides = chain.sides(pads)
    if chain.op.kind is not Kind.TRANSPOSED:
        ceil_mode = chain.ceil_mode
        return tuple(output_size(*one, ceil_mode=ceil_mode) for one in sides)
    extra = chain.output_padding or (0,) * chain.rank
    return tuple(transposed_output(*one, more) for one, more in zip(sides, extra, strict=True))


def _same(chain: Chain, mode: AutoPad) -> Pads | Skip:
    lower = mode is AutoPad.SAME_LOWER
    pairs = [same_pads(axis, lower=lower) for axis in chain.axes]
    missing = [index for index, pair in enumerate(pairs) if pair is None]
    if missing:
        return missing_sizes(chain, mode, missing)
    return Pads.of([pair for pair in pairs if pair is not None])


def _transposed_pads(chain: Chain, padding: AutoPad | Pads) -> Pads | Skip:
    upper = (padding is AutoPad.SAME_UPPER) is not (Mark.LEGACY_SPLIT in chain.around.marks)
    extra = chain.output_padding or (0,) * chain.rank
    if not chain.output_shape:
        if isinstance(padding, Pads):
            return padding
        if padding is AutoPad.VALID:
            return Pads.zero(chain.rank)
        axes = zip(chain.axes, extra, strict=True)
        return Pads.of([same_crop(axis, more, upper=upper) for axis, more in axes])
    full = [full_size(axis) for axis in chain.axes]
    missing = [index for index, size in enumerate(full) if not isinstance(size, int)]
    if missing:
        parts = ", ".join(f"axis {chain.first_axis + index}" for index in missing)
        return Skip(f"output_shape needs the size of {parts}", _FIX)
    sizes = zip(full, extra, chain.output_shape, strict=True)
    known = ((size, *more) for size, *more in sizes if isinstance(size, int))
    return Pads.of([shape_crop(*one, upper=upper) for one in known])


def axes_behind(chain: Chain, pads: Pads) -> tuple[Axis, ...]:
    """The axes as an operator sees them behind a Pad node with `pads`."""
    return tuple(_longer(axis, begin + end) for axis, begin, end in chain.sides(pads))


def axes_in_front(chain: Chain, pads: Pads) -> tuple[Axis, ...]:
    """The axes in front of a Pad node with `pads`, whose result the operator reads."""
    return tuple(_longer(axis, -begin - end) for axis, begin, end in chain.sides(pads))


def _longer(axis: Axis, cells: int) -> Axis:
    return axis if axis.size is None else axis._replace(size=plus(axis.size, cells))


def rounds_up(chain: Chain) -> bool:
    """Whether ceil_mode is set and matters; SAME gives ceil(size/stride) windows anyway."""
    return chain.ceil_mode and not is_same(chain.padding)


def floored(chain: Chain, pads: Pads) -> Pads | Skip:
    """Pads that give the same windows without ceil_mode."""
    if not rounds_up(chain):
        return pads
    sides = chain.sides(pads)
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
        grown = _longer(axis, begin + end)
        inside = output_size(axis, begin + own_begin, end + own_end, ceil_mode=True)
        outside = output_size(grown, own_begin, own_end, ceil_mode=True)
        if inside is None or outside is None:
            return False
        if isinstance(inside, int) and inside != outside:
            return False
    return True
