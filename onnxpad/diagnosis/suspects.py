"""Nodes whose padding may be in question, and every way to pad each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from onnxpad.errors import few
from onnxpad.geometry.size import Symbol
from onnxpad.model.comparing.networks import Network
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Chain, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads, output_sizes
from onnxpad.padding.operators import Kind, operator
from onnxpad.retargeting.candidates import Candidate, candidates, not_grown, ordinary
from onnxpad.retargeting.each_axis import each_axis, not_each_axis
from onnxpad.retargeting.labels import label_of
from onnxpad.retargeting.moved_pads import moved_pads, not_moved
from onnxpad.retargeting.moved_windows import moved_windows, not_moved_windows
from onnxpad.retargeting.windows_read import differs, signature, too_many_cells

Sizes: TypeAlias = tuple[int, ...]
Way: TypeAlias = int | Chain
_FARTHEST = 64


@dataclass(frozen=True, eq=False, slots=True)
class Suspect:
    """A padded node that is searched: `options` are the ways to pad it, the present one first.

    The first `named` of them are ways of frameworks, those up to `ordinary` anybody may write by
    hand, those up to `moved` are other Pads in place of the one in front, those up to `placed` have
    their own pads moved, those up to `given` another number of cells on each axis, the others hold
    fills that were solved for. `left_out` says which other
    Pads and pads there are besides, each as the beginning of a sentence that the label ends.
    `node` and `pad` are indices of the operator and of the Pad in front; `source` is the tensor
    that they read.
    """

    label: str
    node: int
    pad: int | None
    source: str
    chain: Chain
    options: tuple[Candidate, ...]
    named: int
    ordinary: int
    moved: int
    placed: int
    given: int
    left_out: tuple[str, ...] = ()

    @property
    def indices(self) -> tuple[int, ...]:
        """The nodes that are changed together, in order."""
        return (self.node,) if self.pad is None else (self.pad, self.node)

    @property
    def computed(self) -> bool:
        """Whether a Pad in front has pads that are known only while the model runs."""
        return self.chain.pad is not None and bool(self.chain.pad.unclear)


@dataclass(frozen=True, slots=True)
class Suspects:
    """Nodes of the main graph with more than one way to pad them, and labels of the others.

    `left_out` stand in bodies of If, Loop and Scan or in local functions; what is `plain` has one
    way only. `unclear` cannot be padded in another way here: nodes whose padding could not be
    read, and Pads that no operator searched reads, with what does. `unseen` are indices and labels
    of nodes that nothing compared depends on: nothing can be said of their padding.
    """

    searched: tuple[Suspect, ...]
    left_out: tuple[str, ...]
    plain: tuple[str, ...]
    unclear: tuple[str, ...]
    unseen: tuple[tuple[int, str], ...]


def suspects(survey: Survey, network: Network, needed: Collection[int]) -> Suspects:
    """Every padded node of a model, by whether its padding can be in question.

    `needed` are indices of the nodes that what is compared depends on.
    """
    found: list[Suspect] = []
    left_out: list[str] = []
    plain: list[str] = []
    unclear: list[str] = []
    unseen: dict[int, str] = {}
    covered: set[int | None] = set()
    pads: dict[int, str] = {}
    for site in survey.sites_now():
        index = network.producers.get(site.node.outputs[0]) if site.node.outputs else None
        label = site.address.label
        if site.address.scope or index is None:
            left_out.append(label)
        elif index not in needed:
            unseen[index] = label
            if site.chain.pad is not None:
                covered.add(network.producers.get(site.node.inputs[0]))
        elif site.chain.op.kind is Kind.PAD:
            pads[index] = label
        elif (
            site.chain.trouble
            or site.chain.op.kind in (Kind.FOLD, Kind.OTHER)
            or too_many_cells(site.chain)
        ):
            unclear.append(label)
        else:
            suspect = _suspect(site, index, network)
            if isinstance(suspect, Suspect):
                found.append(suspect)
            else:
                (plain if suspect else unclear).append(label)
    in_front = {suspect.pad for suspect in found}
    alone = ((index, label) for index, label in pads.items() if index not in in_front)
    unclear += [f"{label}{_behind(network, index)}" for index, label in alone]
    told = tuple((index, label) for index, label in unseen.items() if index not in covered)
    return Suspects(tuple(found), tuple(left_out), tuple(plain), tuple(unclear), told)


def _behind(network: Network, pad: int) -> str:
    """What stands behind a Pad that no operator searched reads, '' where that is one that pads."""
    made = set(network.nodes[pad].output)
    readers = [n for n, node in enumerate(network.nodes) if made & set(node.input)]
    rows = (operator(network.nodes[n].domain, network.nodes[n].op_type) for n in readers)
    if any(row is not None and row.has_windows for row in rows):
        return ""
    if not readers:
        return " (no operator reads it)"
    labels = [network.operation(n).label for n in readers]
    return f" (stands in front of {few(labels, 1)}, not of an operator that pads)"


def _suspect(site: Site, index: int, network: Network) -> Suspect | bool:
    """The suspect; True where there is one way to pad it, False where its Pad is out of reach."""
    chain, source, pad = site.chain, site.node.inputs[0], None
    if chain.pad is not None:
        pad = network.producers.get(source)
        if pad is None:
            return False
        source = network.nodes[pad].input[0]
    options, named, by_hand, moved, placed, given = _options(chain)
    if len(options) < 2:
        return True
    rows = (
        (not_moved(chain), "in front of"),
        (not_moved_windows(chain), "at"),
        (not_grown(chain), "at"),
        (not_each_axis(chain), "at"),
    )
    left_out = tuple(f"{what}, {where}" for what, where in rows if what)
    return Suspect(
        site.address.label,
        index,
        pad,
        source,
        chain,
        options,
        named,
        by_hand,
        moved,
        placed,
        given,
        left_out,
    )


def _options(chain: Chain) -> tuple[tuple[Candidate, ...], int, int, int, int, int]:
    """Ways that hold for every size, those that only the size in the model allows, and others.

    With the number of those in front of the others, which no framework has by itself, of those in
    front of the Pads that are merely possible, in front of pads that are, in front of what
    differs between axes, and of all.
    """
    symbols = tuple(
        axis._replace(size=Symbol(f"size {index}")) for index, axis in enumerate(chain.axes)
    )
    open_chain = replace(chain, axes=symbols)
    found = [*candidates(open_chain)]
    if chain.has_fixed_sizes:
        for one in candidates(chain)[1:]:
            here = [sized(other.chain, sizes_of(chain)) for other in found]
            if all(other is None or differs(other, one.chain) for other in here):
                found.append(one)
    known, counts = {written(one.chain) for one in found}, [len(found)]
    by_hand = (*ordinary(open_chain), *ordinary(chain))
    for others in (by_hand, moved_pads(open_chain), moved_windows(chain), each_axis(chain)):
        for other in others:
            if written(other) not in known:
                known.add(written(other))
                found.append(Candidate(other, (), label_of(other)))
        counts.append(len(found))
    named, ordinary_, moved, placed, given = counts
    return tuple(found), named, ordinary_, moved, placed, given


def written(chain: Chain) -> tuple[object, ...]:
    """What a way to pad is written with: ways that are written alike are one."""
    numbers = chain.padding, chain.ceil_mode, chain.counts_padding, chain.output_padding
    return (
        *numbers,
        None if chain.pad is None else (chain.pad.pads, chain.pad.mode, chain.pad.fill),
    )


def sizes_of(chain: Chain) -> Sizes | None:
    """Sizes of what the Pad in front or the operator reads, as the model states them."""
    front = _front(chain)
    sizes = [axis.size for axis in chain.axes]
    if not all(isinstance(size, int) for size in sizes) or front is None:
        return None
    return tuple(
        size - more for size, more in zip(sizes, front, strict=True) if isinstance(size, int)
    )


def _front(chain: Chain) -> tuple[int, ...] | None:
    """Cells that the Pad in front adds to each spatial axis; None where they are computed."""
    step = chain.pad
    if step is None:
        return (0,) * chain.rank
    if step.unclear:
        return None
    begins, ends = step.pads.begins[chain.spatial], step.pads.ends[chain.spatial]
    return tuple(b + e for b, e in zip(begins, ends, strict=True))


@lru_cache(maxsize=20_000)
def sized(chain: Chain, sizes: Sizes | None) -> Chain | None:
    """The chain where its source has these sizes.

    None where a computed Pad hides them, or a running model has another number of axes.
    """
    front = _front(chain)
    if front is None or sizes is None or len(sizes) != len(chain.axes):
        return None
    grown = zip(chain.axes, sizes, front, strict=True)
    return replace(chain, axes=tuple(a._replace(size=size + more) for a, size, more in grown))


@lru_cache(maxsize=20_000)
def in_numbers(chain: Chain, sizes: Sizes) -> Chain | None:
    """The chain at these sizes with SAME as the numbers that the ONNX text gives it.

    None where it is to run as it is written: its Pad is computed.
    """
    found = sized(chain, sizes)
    if found is None or not is_same(found.padding):
        return found
    pads = effective_pads(found)
    if isinstance(pads, Skip):
        return found
    return replace(found.with_padding(pads), ceil_mode=False, output_shape=())


class Choices:
    """Which options of a suspect read alike at given sizes."""

    def __init__(self, suspect: Suspect) -> None:
        self.suspect = suspect
        self._groups: dict[Sizes, tuple[int, ...]] = {}

    def leader(self, choice: int, sizes: Sizes) -> int:
        """The first option that reads what option `choice` reads."""
        if sizes not in self._groups:
            self._groups[sizes] = self._grouped(sizes)
        return self._groups[sizes][choice]

    def alike(self, choice: int, sizes: Sizes) -> list[int]:
        """Every option that reads the same, the given one included."""
        leader = self.leader(choice, sizes)
        groups = self._groups[sizes]
        return [other for other in range(len(groups)) if groups[other] == leader]

    def leaders(self, sizes: Sizes) -> list[int]:
        """One option of each group, the present way first."""
        self.leader(0, sizes)
        return sorted(set(self._groups[sizes]))

    def outputs(self, choice: int, sizes: Sizes) -> tuple[object, ...]:
        """Spatial sizes of the output."""
        found = sized(self.suspect.options[choice].chain, sizes)
        return () if found is None else output_sizes(found)

    def resizes(self, one: int, other: int, sizes: Sizes) -> bool:
        """Whether two options are known to give other output sizes."""
        pair = self.outputs(one, sizes), self.outputs(other, sizes)
        return () not in pair and pair[0] != pair[1]

    def _grouped(self, sizes: Sizes) -> tuple[int, ...]:
        first: dict[object, int] = {}
        groups = []
        for number, option in enumerate(self.suspect.options):
            found = sized(option.chain, sizes)
            key: object = number if found is None else signature(found)
            groups.append(first.setdefault(key, number))
        return tuple(groups)


def telling_size(one: Chain, other: Chain, sizes: Sequence[int]) -> Sizes | None:
    """The sizes nearest to these at which two ways of padding part; None where none do."""
    for shift in _shifts():
        near = tuple(size + shift for size in sizes)
        if min(near) < 1:
            continue
        pair = sized(one, near), sized(other, near)
        if pair[0] is not None and pair[1] is not None and differs(pair[0], pair[1]):
            return near
    return None


def _shifts() -> Iterator[int]:
    for distance in range(1, _FARTHEST):
        yield distance
        yield -distance
