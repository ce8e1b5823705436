"""Moves one node to a convention, by what its padding means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from onnxpad.chain import AutoPad, Chain, Pads, Skip
from onnxpad.effective import effective_pads
from onnxpad.fills import Constant, Implicit
from onnxpad.forms import reaches_kernel
from onnxpad.geometry.axis import Axis, output_size
from onnxpad.layers.words import Divisor, Rounding
from onnxpad.moving.crops import moved_crop
from onnxpad.moving.labels import held
from onnxpad.moving.manners import Manner, find_target, manner_of
from onnxpad.moving.meanings import Meaning, meanings
from onnxpad.moving.seen import is_by_hand, without_hand
from onnxpad.moving.shields import shielded
from onnxpad.moving.spots import always_up, same_padding
from onnxpad.moving.windows import differs, sample_sizes
from onnxpad.ops import Kind

_SAME = (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
_BOUND = frozenset({"DeformConv", "MaxpoolWithMask"})
_COUNTS_SINCE = 7
_CEIL_SINCE = 10


def moved(chain: Chain, to: str, *, source: str | None = None) -> Chain | Skip:
    """The node as the convention `to` would write it; the chain itself where nothing changes.

    `to` and `source` are names of conventions, SAME_UPPER, SAME_LOWER or symmetric; `source`
    says by whose words the padding is to be read. A Skip says why the node cannot be moved:
    padding that fits no convention, or not the source, that can mean things which differ, sizes
    that are not known. Raises RequestError for unknown names.
    """
    target = find_target(to)
    origin = None if source is None else find_target(source)
    if chain.op.kind in (Kind.PAD, Kind.FOLD, Kind.OTHER):
        return Skip(f"{chain.op.name} has no convention of its own", moot=True)
    if chain.trouble:
        return Skip(chain.trouble.reason, chain.trouble.hints)
    if chain.op.name in _BOUND:
        return Skip(f"{chain.op.name} has an input that depends on its own padding")
    manner = manner_of(target, chain)
    reader = None if origin is None else manner_of(origin, chain)
    if isinstance(manner, Skip):
        return manner
    if isinstance(reader, Skip):
        return reader
    if chain.op.kind is Kind.TRANSPOSED:
        return moved_crop(chain, manner)
    return _moved_windows(chain, manner, reader)


def _moved_windows(chain: Chain, manner: Manner, reader: Manner | None) -> Chain | Skip:
    bare = without_hand(chain)
    if isinstance(bare, Skip):
        return bare
    result = _by_meaning(bare, manner, reader)
    if isinstance(result, Skip):
        return result
    if differs(chain, result):
        return shielded(chain, result)
    return _held_by_pad(chain, manner, reader) or chain


def _held_by_pad(chain: Chain, manner: Manner, reader: Manner | None) -> Skip | None:
    """A Skip where the Pad in front is data because of what it holds, and zeros would move."""
    step = chain.pad
    if step is None or step.unclear or is_by_hand(chain, step):
        return None
    zeros = replace(chain, pad=replace(step, mode="constant", fill=Constant(0)))
    bare = without_hand(zeros)
    found = bare if isinstance(bare, Skip) else _by_meaning(bare, manner, reader)
    if isinstance(found, Chain) and not differs(zeros, found):
        return None
    return Skip(
        f"the Pad in front holds {held(step)}, which {manner.name} does not pad with: zeros would "
        "be moved, this stays as it is",
        ("--plan FILE says what it is to be",),
    )


def _by_meaning(bare: Chain, manner: Manner, reader: Manner | None) -> Chain | Skip:
    pads = effective_pads(bare)
    if bare.padding in _SAME:
        known = Pads.zero(bare.rank) if isinstance(pads, Skip) else pads
        foreign = _foreign(bare, known, str(bare.padding), reader)
        return foreign or _written(bare, Meaning.SAME, known, manner)
    if isinstance(pads, Skip):
        return pads
    if bare.ceil_mode and differs(bare, replace(bare, ceil_mode=False)):
        up = reader is not None and any(reader.padded - {Rounding.DOWN, Rounding.EXACT})
        foreign = None if up else _foreign(bare, pads, "rounding up", reader)
        return foreign or _rounded_up(bare, pads, manner)
    meant = meanings(bare, pads, reader)
    if meant == {Meaning.EXPLICIT} and not _explicit(pads, reader):
        whose = f"{reader.name} does not write" if reader else "fit no convention"
        return Skip(
            f"the pads {list(pads.flat)} {whose}",
            ("--from NAME says whose they are", "--plan FILE says what they are to be"),
        )
    found = [_written(bare, meaning, pads, manner) for meaning in sorted(meant)]
    return _one_of(found, meant, pads)


def _foreign(bare: Chain, pads: Pads, what: str, reader: Manner | None) -> Skip | None:
    """A Skip where the source would have written other padding than this SAME."""
    if reader is None:
        return None
    own = _written(replace(bare, ceil_mode=False), Meaning.SAME, pads, reader)
    if isinstance(own, Chain) and not differs(own, bare):
        return None
    return Skip(
        f"{what} is not as {reader.name} pads here, which --from names",
        ("--from with the framework that it comes from", "leaving --from out"),
    )


def _explicit(pads: Pads, reader: Manner | None) -> bool:
    """Whether the source takes these as plain numbers."""
    if reader is None:
        return False
    return reader.any_numbers or (reader.numbers and pads.begins == pads.ends)


def _one_of(found: list[Chain | Skip], meant: Iterable[Meaning], pads: Pads) -> Chain | Skip:
    """What all meanings come to, or a Skip that names them."""
    chains = [one for one in found if isinstance(one, Chain)]
    if len(chains) < len(found):
        return next(one for one in found if isinstance(one, Skip))
    if any(differs(chains[0], other) for other in chains[1:]):
        names = " or ".join(sorted(meant))
        return Skip(
            f"the pads {list(pads.flat)} can mean {names}, which come to different things",
            ("--from NAME says whose they are",),
        )
    return chains[0]


def _written(bare: Chain, meaning: Meaning, pads: Pads, manner: Manner) -> Chain | Skip:
    up = bare.op.is_pool and always_up(manner.padded)
    padding: Pads | AutoPad = pads
    alike = manner.numbers and pads.begins == pads.ends and any(pads.flat)
    # Max pools of Caffe's networks leave out pads that frameworks which round down need.
    kept = alike and not (up and bare.is_max) and not manner.has_strided_same
    if meaning is Meaning.SAME and not kept:
        found = same_padding(bare, manner, rounds_up=up)
        if isinstance(found, Skip):
            return found
        padding = found
    changed = replace(bare, padding=padding, ceil_mode=bare.ceil_mode and padding not in _SAME)
    return _finished(changed, manner)


def _rounded_up(bare: Chain, pads: Pads, manner: Manner) -> Chain | Skip:
    """A pool whose rounding up adds windows."""
    same = _written(replace(bare, ceil_mode=False), Meaning.SAME, pads, manner)
    if isinstance(same, Chain) and not differs(bare, same):
        return _finished(bare, _without_rounding(manner))
    allowed = manner.padded if any(pads.flat) else manner.unpadded
    if allowed <= {Rounding.DOWN, Rounding.EXACT}:
        return Skip(f"it rounds up, which no pool of {manner.name} does")
    if pads.begins != pads.ends and not manner.any_numbers:
        return Skip(f"{manner.name} has no pads like {list(pads.flat)} that round up")
    return _finished(bare, manner)


def _without_rounding(manner: Manner) -> Manner:
    """The manner without a rule of its own for rounding."""
    kept = frozenset({Rounding.DOWN, Rounding.UP})
    return replace(manner, padded=kept, unpadded=kept)


def _finished(chain: Chain, manner: Manner) -> Chain | Skip:
    """Rounding and divisors as the convention has them, and what no runtime takes refused."""
    if not chain.op.is_pool:
        return chain
    found = _rounding(chain, manner)
    if isinstance(found, Chain):
        found = _divisor(found, manner)
    pads = found.padding if isinstance(found, Chain) else None
    if isinstance(pads, Pads) and reaches_kernel(chain, pads):
        return Skip(
            f"the pads would be {list(pads.flat)} and reach the kernel, which onnxruntime "
            "refuses in a pool"
        )
    return found


def _rounding(chain: Chain, manner: Manner) -> Chain | Skip:
    pads = chain.padding if isinstance(chain.padding, Pads) else None
    if pads is None:
        return chain
    allowed = manner.padded if any(pads.flat) else manner.unpadded
    if not (always_up(allowed) or chain.ceil_mode):
        return chain
    up = replace(chain, ceil_mode=True)
    if not differs(chain, up) and not _outer(up, pads, allowed):
        return chain
    if chain.opset < _CEIL_SINCE and not chain.op.domain:
        return Skip(f"{chain.op.name} of opset {chain.opset} has no ceil_mode")
    if _outer(up, pads, allowed):
        return Skip(f"{manner.name} has a last window over padding alone here, ONNX has none")
    return up


def _outer(chain: Chain, pads: Pads, allowed: frozenset[Rounding]) -> bool:
    """Whether the convention keeps windows that ceil_mode of ONNX drops."""
    if Rounding.UP in allowed or Rounding.UP_FROM_ONE in allowed:
        return False
    any_padded = any(pads.flat)
    for axis, begin, end in zip(chain.axes, pads.begins, pads.ends, strict=True):
        drops = {
            Rounding.UP_IF_ANY_PADDED: any_padded,
            Rounding.UP_IF_AXIS_PADDED: bool(begin or end),
        }
        if any(drops.get(one, False) for one in allowed):
            continue
        for size in sample_sizes(axis, begin + end):
            sized = Axis(size, axis.kernel, axis.stride, axis.dilation)
            plain = -(-(size + begin + end - axis.span) // axis.stride) + 1
            if plain > 0 and plain != output_size(sized, begin, end, ceil_mode=True):
                return True
    return False


def _divisor(chain: Chain, manner: Manner) -> Chain | Skip:
    if chain.op.kind is not Kind.AVERAGE or manner.divisors is None:
        return chain
    real = Divisor.REAL in manner.divisors
    counting = bool(manner.divisors - {Divisor.REAL})
    if real and counting:
        return chain
    counts = counting
    if counts == chain.counts_padding:
        return chain
    other = replace(chain, counts_padding=counts, fill=Constant(0) if counts else Implicit.NOTHING)
    if not differs(chain, other):
        return chain
    if counts and chain.opset < _COUNTS_SINCE:
        return Skip(f"AveragePool of opset {chain.opset} has no count_include_pad")
    if chain.op.quantised:
        return Skip("the zero point need not be 0: what its padding counts for cannot change")
    return other
