"""Moves one node to a convention, by what its padding means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from onnxpad.errors import RequestError
from onnxpad.frameworks.choices import Rounding
from onnxpad.frameworks.layer import Given, Pair
from onnxpad.frameworks.rules import CROP_BOTH, split
from onnxpad.frameworks.worked_out import windows
from onnxpad.geometry.windows import Axis, output_size, same_pads, sample_sizes
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads, missing_sizes
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import Kind, Since
from onnxpad.retargeting.habits import Habits, habits_of, named_convention
from onnxpad.retargeting.hand_written_pads import counting, is_by_hand, without_hand
from onnxpad.retargeting.labels import held
from onnxpad.retargeting.windows_read import differs
from onnxpad.runtimes.onnxruntime.runtime_check import spelled


def meanings(chain: Chain, pads: Pads, source: Habits | None = None) -> frozenset[str]:
    """Everything that `pads` of an operator can mean; nothing where they fit no convention.

    With `source` only what that convention would write. Axes with a kernel of 1 and no padding
    fit anything; no padding at all is valid and nothing else.
    """
    if not any(pads.flat):
        return frozenset({"valid"})
    rows = [row for row in chain.sides(pads) if row[0].span > 1 or any(row[1:])]
    fitting = (frozenset(_of_axis(axis, (begin, end), source)) for axis, begin, end in rows)
    return frozenset.intersection(*fitting)


def _of_axis(axis: Axis, pair: Pair, source: Habits | None) -> Iterator[str]:
    reach = axis.span - 1
    if pair == (0, 0):
        yield "valid"
    if _is_same(axis, pair, source):
        yield "same"
    if pair == (reach, 0) and (source is None or source.pads_three(2, 0)):
        yield "causal"
    if pair == (reach, reach) and (source is None or source.pads_three(2, 2)):
        yield "full"


def _is_same(axis: Axis, pair: Pair, source: Habits | None) -> bool:
    """Whether these pads are somebody's way to get ceil(size/stride) windows.

    With a size that is not known, pads may be those of the size at which a model was exported.
    """
    if source is None or source.numbers:
        static = (axis.stride - 1 + axis.span - 1) // 2
        half = axis.span // 2
        if pair in {(half, half), (static, static)}:
            return True
    if source is None and pair == split(axis.span - 1):
        return True
    for size in sample_sizes(axis, sum(pair)):
        sized = axis._replace(size=size)
        autos = (same_pads(sized, lower=lower) for lower in (False, True))
        for own in source.pairs(axis, size) if source else autos:
            if _reads_as(sized, pair, own) and _is_same_count(sized, pair):
                return True
    return False


def unchanged_because(chain: Chain, name: str) -> str:
    """Why the convention `name` computes what the node computes already."""
    pads = effective_pads(chain)
    if chain.pad is None and isinstance(pads, Pads) and not any(pads.flat + chain.output_padding):
        return "it pads nothing"
    return f"{name} pads like this at {'this' if chain.has_fixed_sizes else 'every'} size"


_PROBES = (7, 8)
CropAndAdd = tuple[int, int, int]


def moved_crop(chain: Chain, habits: Habits) -> Chain | Skip:
    """A transposed convolution that gives size*stride cells, cut as the convention cuts it.

    Nothing cut stays so (VALID); the chain itself comes back where nothing changes.
    """
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    extra = chain.output_padding or (0,) * chain.rank
    ends = tuple(end - more for end, more in zip(pads.ends, extra, strict=True))
    if not any(pads.begins) and not any(ends):
        return chain
    totals = tuple(axis.span - axis.stride for axis in chain.axes)
    if any(b + e != total for b, e, total in zip(pads.begins, ends, totals, strict=True)):
        return Skip(
            f"the crop {list(pads.begins + ends)} gives neither size*stride cells nor all",
            ("--plan FILE says what it is to be",),
        )
    cuts = [cut for axis in chain.axes if (cut := _cut(axis, habits))]
    if len(cuts) < chain.rank:
        return Skip(f"{habits.name} has no transposed convolution that gives size*stride cells")
    result = cropped(chain, cuts)
    return result if differs(chain, result) else chain


def cropped(chain: Chain, cuts: list[CropAndAdd]) -> Chain:
    """The chain with (begin, end, output_padding) for each axis."""
    growth = tuple(more for _, _, more in cuts)
    return replace(
        chain.with_padding(Pads.of([cut[:2] for cut in cuts])),
        output_padding=growth if any(growth) else (),
        output_shape=(),
    )


def _cut(axis: Axis, habits: Habits) -> CropAndAdd | None:
    """(begin, end, output_padding) that leave size*stride cells; None where it has none."""
    total = axis.span - axis.stride
    begins = {_begin(axis, habits, size) for size in _PROBES}
    if len(begins) == 1 and None not in begins:
        begin = begins.pop() or 0
        return (begin, max(total - begin, 0), max(begin - total, 0))
    pad = max(0, -(-total // 2))
    extra = 2 * pad - total
    may_grow = habits.grows and extra < max(axis.stride, axis.dilation)
    return (pad, pad, extra) if habits.numbers and (may_grow or not extra) else None


def _begin(axis: Axis, habits: Habits, size: int) -> int | None:
    """Cells that the convention's own mode cuts in front."""
    wanted, sized = size * axis.stride, axis._replace(size=size)
    for mode in habits.modes:
        if mode.cut is None or mode == CROP_BOTH or (mode.undilated and axis.dilation > 1):
            continue
        for given in (Given(), Given(extent=wanted)):
            try:
                crop = mode.cut(sized, size, given)
            except RequestError:
                continue
            if crop.output == wanted:
                return crop.begin
    return None


class _Spot(NamedTuple):
    """Ways to write one axis: numbers that serve every size, and auto_pad."""

    pair: Pair | None = None
    autos: tuple[AutoPad, ...] = ()


_SAME = (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)


def same_padding(chain: Chain, habits: Habits, *, rounds_up: bool) -> Pads | AutoPad | Skip:
    """What `habits` writes for SAME: numbers where they serve every size that the input can have.

    `chain` has no Pad in front that pads by hand. A Skip says which size is missing, or why the
    convention has no such padding.
    """
    spots = [spot for axis in chain.axes if (spot := _spot(axis, habits, up=rounds_up))]
    if len(spots) < chain.rank:
        return Skip(f"{habits.name} has no padding here that gives ceil(size/stride) windows")
    pairs = [spot.pair for spot in spots if spot.pair is not None]
    if len(pairs) == len(spots):
        return Pads.of(pairs)
    for auto_pad in _SAME:
        if all(auto_pad in spot.autos for spot in spots):
            return auto_pad
    missing = [index for index, spot in enumerate(spots) if spot.pair is None]
    return missing_sizes(chain, f"padding as {habits.name} does it", missing)


def _spot(axis: Axis, habits: Habits, *, up: bool) -> _Spot | None:
    """None where the convention has no padding that gives ceil(size/stride) windows."""
    if axis.stride == 1 and axis.span == 1:
        return _Spot((0, 0), _SAME)
    sizes = [size for size in sample_sizes(axis, 2 * axis.span) if size > 0]
    if not isinstance(axis.size, int):
        # Some frameworks refuse inputs below the kernel's size.
        sizes = [size for size in sizes if size >= axis.span] or sizes
    axes = [axis._replace(size=size) for size in sizes]
    wanted = [
        next((pair for pair in habits.pairs(axis, size) if _is_same_count(one, pair, up)), None)
        for one, size in zip(axes, sizes, strict=True)
    ]
    if not wanted or None in wanted:
        return _alike(axis, habits, axes, up=up)
    pairs = [pair for pair in wanted if pair is not None]
    if min(pairs)[0] < 0:  # it begins inside the input
        return None
    numbers = dict.fromkeys([(pairs[-1][0], max(end for _, end in pairs)), *pairs])
    rows = list(zip(axes, pairs, strict=True))
    pair = next((one for one in numbers if all(_reads_as(*row, one) for row in rows)), None)
    autos = tuple(
        mode
        for mode in _SAME
        if all(_reads_as(*row, same_pads(row[0], lower=mode is _SAME[1])) for row in rows)
    )
    return _Spot(pair and (pair[0], max(0, pair[1])), autos)


def _alike(axis: Axis, habits: Habits, axes: Sequence[Axis], *, up: bool) -> _Spot | None:
    """As many cells at both sides, at most half a window, that give ceil(size/stride) windows."""
    if not habits.numbers:
        return None
    # SAME padding of an even window that is alike at both sides by itself comes first.
    same = {same_pads(one, lower=False) for one in axes} if axis.span % 2 == 0 else set()
    numbers = sorted(range(axis.span // 2, -1, -1), key=lambda pad: same != {(pad, pad)})
    served = {pad: [_is_same_count(one, (pad, pad), up) for one in axes] for pad in numbers}
    for pad in numbers:
        if all(served[pad]):
            return _Spot((pad, pad))
    return _Spot() if any(map(any, served.values())) else None


def _reads_as(axis: Axis, pair: Pair, other: Pair | None) -> bool:
    """Whether both pads give the same windows on an axis of a known size."""
    if other is None or pair[0] != other[0]:
        return False
    return output_size(axis, *pair) == output_size(axis, *other)


def _is_same_count(axis: Axis, pair: Pair, up: bool = False) -> bool:  # noqa: FBT001, FBT002
    """Whether an axis of a known size has ceil(size/stride) windows."""
    size = axis.size if isinstance(axis.size, int) else 0
    return output_size(axis, *pair, ceil_mode=up) == -(-size // axis.stride)


_BOUND = frozenset({"DeformConv"})


def moved(chain: Chain, to: str, *, source: str | None = None) -> Chain | Skip:
    """The node as the convention `to` would write it; the chain itself where nothing changes.

    `to` and `source` are names of conventions, SAME_UPPER, SAME_LOWER or symmetric; `source`
    says by whose words the padding is to be read. A Skip says why the node cannot be moved:
    padding that fits no convention, or not the source, that can mean things which differ, sizes
    that are not known. Raises RequestError for unknown names.
    """
    names = [named_convention(name) for name in (to, source) if name is not None]
    if not chain.op.has_windows:
        return Skip(f"{chain.op.name} has no convention of its own", moot=True)
    if chain.trouble:
        return chain.trouble.as_skip()
    if chain.op.name in _BOUND:
        return Skip(f"{chain.op.name} has an input that depends on its own padding")
    habits, reader = habits_of(names[0], chain), habits_of(names[-1], chain)
    if isinstance(habits, Skip):
        return habits
    if isinstance(reader, Skip):
        return reader
    if chain.op.kind is Kind.TRANSPOSED:
        return moved_crop(chain, habits)
    return _moved_windows(chain, habits, reader if source is not None else None)


def _moved_windows(chain: Chain, habits: Habits, reader: Habits | None) -> Chain | Skip:
    bare = without_hand(chain)
    result = bare if isinstance(bare, Skip) else _by_meaning(bare, habits, reader)
    if isinstance(result, Skip):
        return result
    if differs(chain, result):
        return as_it_runs(chain, result)
    step = chain.pad
    if step is None or step.unclear or is_by_hand(chain, step):
        return chain
    # The Pad is data because of what it holds: would zeros move?
    zeros = replace(chain, pad=replace(step, mode="constant", fill=Constant(0)))
    if zeros == chain or _moved_windows(zeros, habits, reader) == zeros:
        return chain
    return Skip(
        f"the Pad in front holds {held(step)}, and {habits.name} pads with zeros: only a Pad of "
        "zeros is moved",
        ("--plan FILE says what it is to be",),
    )


def as_it_runs(before: Chain, after: Chain) -> Chain | Skip:
    """A move, spelled so that onnxruntime runs it right, or why it cannot be."""
    if after.pad != before.pad and before.uses_indices:
        return Skip("its Indices are used and count the cells of the Pad in front")
    found = spelled(before, after)
    return found if isinstance(found, Chain | Skip) else after


def _by_meaning(bare: Chain, habits: Habits, reader: Habits | None) -> Chain | Skip:
    pads = effective_pads(bare)
    if is_same(bare.padding):
        known = Pads.zero(bare.rank) if isinstance(pads, Skip) else pads
        foreign = _foreign(bare, known, str(bare.padding), reader)
        return foreign or _written_same(bare, known, habits)
    if isinstance(pads, Skip):
        return pads
    if bare.ceil_mode and differs(bare, replace(bare, ceil_mode=False)):
        up = reader is not None and reader.up
        foreign = None if up else _foreign(bare, pads, "rounding up", reader)
        return foreign or _rounded_up(bare, pads, habits)
    meant = meanings(bare, pads, reader)
    alike = pads.begins == pads.ends
    plain = reader is not None and (reader.any_numbers or (reader.numbers and alike))
    if not meant and not plain:
        if reader:
            return _not_of(reader, f"the pads {list(pads.flat)} are")
        return Skip(
            f"the pads {list(pads.flat)} fit no convention",
            ("--source NAME says whose they are", "--plan FILE says what they are to be"),
        )
    ways = [_written(bare, pads, habits)] if meant != {"same"} else []
    ways += [_written_same(bare, pads, habits)] if "same" in meant else []
    chains = [way for way in ways if isinstance(way, Chain)]
    for way in ways:
        if isinstance(way, Skip):
            return way
    if len(chains) > 1 and differs(*chains):
        return Skip(
            f"the pads {list(pads.flat)} can mean {' or '.join(sorted(meant))}, which give "
            "different results",
            ("--source NAME says whose they are",),
        )
    return chains[0]


def _foreign(bare: Chain, pads: Pads, what: str, reader: Habits | None) -> Skip | None:
    """A Skip where the source would have written other padding than this SAME."""
    if reader is None:
        return None
    own = _written_same(replace(bare, ceil_mode=False), pads, reader)
    if isinstance(own, Chain) and not differs(own, bare):
        return None
    return _not_of(reader, f"{what} is")


def _not_of(reader: Habits, padding_is: str) -> Skip:
    return Skip(
        f"{padding_is} not what {reader.name}, named by --source, would write here",
        ("--source with the framework that wrote the model", "no --source"),
    )


def _written_same(bare: Chain, pads: Pads, habits: Habits) -> Chain | Skip:
    """The convention's way to keep ceil(size/stride) windows; numbers that it has stay."""
    up = bare.op.is_pool and habits.always_up
    alike = habits.numbers and pads.begins == pads.ends and any(pads.flat)
    # Max pools of Caffe's networks leave out pads that frameworks which round down need.
    if alike and not (up and bare.is_max) and not habits.has_strided_same:
        return _written(bare, pads, habits)
    padding = same_padding(bare, habits, rounds_up=up)
    return padding if isinstance(padding, Skip) else _written(bare, padding, habits)


def _written(bare: Chain, padding: Pads | AutoPad, habits: Habits) -> Chain | Skip:
    ceil = bare.ceil_mode and not is_same(padding)
    return _finished(replace(bare.with_padding(padding), ceil_mode=ceil), habits)


def _rounded_up(bare: Chain, pads: Pads, habits: Habits) -> Chain | Skip:
    """A pool whose rounding up adds windows."""
    same = _written_same(replace(bare, ceil_mode=False), pads, habits)
    if isinstance(same, Chain) and not differs(bare, same):
        return _finished(bare, replace(habits, roundings=frozenset({Rounding.DOWN, Rounding.UP})))
    if not habits.up:
        return Skip(f"it rounds up, which no pool of {habits.name} does")
    if pads.begins != pads.ends and not habits.any_numbers:
        return Skip(f"{habits.name} has no pads like {list(pads.flat)} that round up")
    return _finished(bare, habits)


def _finished(chain: Chain, habits: Habits) -> Chain | Skip:
    """Rounding and divisors as the convention has them."""
    if not chain.op.is_pool:
        return chain
    found = _rounding(chain, habits)
    if isinstance(found, Chain):
        found = _divisor(found, habits)
    return found


def _rounding(chain: Chain, habits: Habits) -> Chain | Skip:
    pads = chain.padding
    if not isinstance(pads, Pads) or not (habits.always_up or chain.ceil_mode):
        return chain
    up = replace(chain, ceil_mode=True)
    outer = _outer(up, pads, habits.up)
    if not outer and not differs(chain, up):
        return chain
    if chain.opset < chain.op.ceil_mode and not chain.op.domain:
        return Skip(f"{chain.op.name} of opset {chain.opset} has no ceil_mode")
    if outer:
        return Skip(f"{habits.name} has a last window over padding alone here, ONNX has none")
    return up


def _outer(chain: Chain, pads: Pads, up: frozenset[Rounding]) -> bool:
    """Whether the convention keeps windows that ceil_mode of ONNX drops."""
    if up & {Rounding.UP, Rounding.UP_FROM_ONE}:
        return False
    for axis, begin, end in chain.sides(pads):
        for size in sample_sizes(axis, begin + end):
            sized, counts = axis._replace(size=size), set()
            for one in up:
                with suppress(RequestError):
                    counts.add(windows(sized, (begin, end), one, any_padded=any(pads.flat)))
            if counts and output_size(sized, begin, end, ceil_mode=True) not in counts:
                return True
    return False


def _divisor(chain: Chain, habits: Habits) -> Chain | Skip:
    if chain.op.kind is not Kind.AVERAGE or habits.counts(padding=chain.counts_padding):
        return chain
    counts = not chain.counts_padding
    other = counting(chain, counts=counts)
    if not differs(chain, other):
        return chain
    if counts and chain.opset < Since.COUNT_INCLUDE_PAD:
        return Skip(f"AveragePool of opset {chain.opset} has no count_include_pad")
    if chain.op.quantised:
        return Skip("the zero point need not be 0: what its padding counts for cannot change")
    return other
