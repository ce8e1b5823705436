"""Nodes whose padding may be in question, and the ways to pad each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from onnxpad.frameworks.fits import own_rules
from onnxpad.geometry.size import Symbol
from onnxpad.model.comparing.networks import Network
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads, output_sizes
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.candidates import as_windows, candidates, ordinary, ways_of_pad
from onnxpad.retargeting.windows_read import differs, signature, too_many_cells

Sizes: TypeAlias = tuple[int, ...]
_FARTHEST = 64


@dataclass(eq=False, slots=True)
class Suspect:
    """A padded node that is searched.

    node, pad: indices of the operator and of the Pad in front.
    source: the tensor that they read.
    options: ways to pad it, the present one first. The first `named` of them are those of
        frameworks, the next up to `listed` are one edit of what is there (numbers, mode, rounding,
        divisor), all behind hold fills that were solved for.
    """

    label: str
    node: int
    pad: int | None
    source: str
    chain: Chain
    options: list[Chain]
    named: int
    listed: int

    @property
    def indices(self) -> tuple[int, ...]:
        """The nodes that are changed together, in order."""
        return (self.node,) if self.pad is None else (self.pad, self.node)

    @property
    def computes_pads(self) -> bool:
        """Whether a Pad in front has pads that are known only while the model runs."""
        return self.chain.pad is not None and bool(self.chain.pad.unclear)

    @property
    def has_open_sizes(self) -> bool:
        """Whether the model leaves the sizes that it reads open."""
        return self.computes_pads or not self.chain.has_fixed_sizes

    def conventions(self, option: int) -> tuple[str, ...]:
        """The conventions whose own rule gives an option of frameworks (SAME, VALID, one number).

        One that can merely be given such pads, begin and end by number, is not among them.
        """
        return _own_rules(self.options[option]) if option < self.named else ()

    def leader(self, option: int, sizes: Sizes) -> int:
        """The first option that reads what this one reads at these sizes; a solved one itself."""
        return option if option >= self.listed else _leaders(self, sizes)[option]

    def leaders(self, reads: Sequence[Sizes]) -> dict[tuple[int, ...], int]:
        """One listed option for each way that reads otherwise in some sample, by the leaders there.

        `reads` are the sizes in each sample.
        """
        options = range(self.listed if reads else 0)
        return {self.leading(option, reads): option for option in reversed(options)}

    def leading(self, option: int, reads: Sequence[Sizes]) -> tuple[int, ...]:
        """The leaders of an option in each sample: equal ones read the same."""
        return tuple(self.leader(option, sizes) for sizes in reads)

    def output_sizes(self, option: int, sizes: Sizes) -> tuple[object, ...]:
        """Spatial sizes of the output, () where a computed Pad hides them."""
        chain = sized(self.options[option], sizes)
        return () if chain is None else output_sizes(chain)


@lru_cache(maxsize=4096)
def _own_rules(chain: Chain) -> tuple[str, ...]:
    return tuple(sorted(own_rules(chain)))


@lru_cache(maxsize=4096)
def _leaders(suspect: Suspect, sizes: Sizes) -> tuple[int, ...]:
    first: dict[object, int] = {}
    chains = (sized(option, sizes) for option in suspect.options[: suspect.listed])
    keys = (number if one is None else signature(one) for number, one in enumerate(chains))
    return tuple(first.setdefault(key, number) for number, key in enumerate(keys))


@dataclass(frozen=True, slots=True)
class Suspects:
    """The padded nodes of a model, by what can be said of their padding.

    searched: nodes of the main graph that have several ways.
    plain: labels of nodes that have one way only.
    untried: labels of nodes in bodies of If, Loop and Scan or in local functions, and of nodes and
        Pads whose padding cannot be changed here.
    unseen: indices and labels of nodes that nothing compared depends on.
    """

    searched: tuple[Suspect, ...]
    plain: tuple[str, ...]
    untried: tuple[str, ...]
    unseen: tuple[tuple[int, str], ...]


def suspects(survey: Survey, network: Network, needed: Collection[int]) -> Suspects:
    """Every padded node; `needed` are indices of the nodes that what is compared depends on."""
    searched, plain, untried = list[Suspect](), list[str](), list[str]()
    unseen, pads = dict[int, str](), dict[int, Site]()
    read = set[int | None]()
    for site in survey.sites_now():
        index = network.producers.get(site.node.outputs[0]) if site.node.outputs else None
        label, chain = site.address.label, site.chain
        pad = None if chain.pad is None else network.producers.get(site.node.inputs[0])
        is_other = chain.op.kind is Kind.OTHER or (chain.pad and pad is None)
        if site.address.scope or index is None:
            untried.append(label)
        elif index not in needed:
            unseen[index] = label
            read.add(pad)
        elif chain.op.kind is Kind.PAD:
            pads[index] = site
        elif is_other or chain.trouble or too_many_cells(chain):
            untried.append(label)
        elif suspect := _suspect(site, index, pad, network):
            searched.append(suspect)
            read.add(pad)
        else:
            plain.append(label)
    joined = (one for one in survey.joined_pads() if not one.address.scope)
    placed = ((network.producers[one.node.outputs[0]], one) for one in joined)
    pads |= {index: one for index, one in placed if index in needed}
    for index, site in pads.items():
        suspect = None if index in read else _lone_pad(site, index)
        searched += [suspect] if suspect else []
        untried += [site.address.label] if not suspect and index not in read else []
    searched.sort(key=lambda suspect: suspect.node)
    alone = tuple((index, label) for index, label in unseen.items() if index not in read)
    return Suspects(tuple(searched), tuple(plain), tuple(untried), alone)


def _suspect(site: Site, index: int, pad: int | None, network: Network) -> Suspect | None:
    """None where there is one way to pad it.

    Options hold at any size: what is in front may be padded otherwise too. Of a max pool, which a
    Pad of 0 in front may pad, those of the size in the model are among them.
    """
    chain = site.chain
    zeros = (one for one in candidates(chain) if one.pad and chain.is_max)
    named = _options(candidates(opened(chain)), zeros)
    options = _options(named, ordinary(opened(chain)))
    source = site.node.inputs[0] if pad is None else network.nodes[pad].input[0]
    count = len(options)
    if count < 2:
        return None
    return Suspect(site.address.label, index, pad, source, chain, options, len(named), count)


def _lone_pad(site: Site, index: int) -> Suspect | None:
    """A Pad node that no convolution or pool reads directly; None where its pads are not known."""
    chain = as_windows(site.chain)
    if isinstance(chain, Skip) or chain.trouble or not any(padded_cells(chain)):
        return None
    options = _options((chain,), ways_of_pad(opened(chain)))
    count, source = len(options), site.tensor
    return Suspect(site.address.label, index, None, source, chain, options, count, count)


def _options(named: Sequence[Chain], others: Iterable[Chain]) -> list[Chain]:
    """The named ways, then others that are written otherwise."""
    options: dict[object, Chain] = {}
    for one in (*named, *others):
        options.setdefault(written_as(one), one)
    return list(options.values())


def opened(chain: Chain) -> Chain:
    """The chain with open sizes."""
    rows = enumerate(chain.axes)
    return replace(chain, axes=tuple(axis._replace(size=Symbol(f"size {n}")) for n, axis in rows))


def written_as(chain: Chain) -> tuple[object, ...]:
    """What a way to pad is written with: ways that are written alike are one."""
    step = None if chain.pad is None else (chain.pad.pads, chain.pad.mode, chain.pad.fill)
    return chain.padding, chain.ceil_mode, chain.counts_padding, chain.output_padding, step


def in_front(chain: Chain) -> Pads | None:
    """Cells of the Pad in front on the spatial axes, of which the operator knows nothing.

    None where they are computed.
    """
    step = chain.pad
    if step is None:
        return Pads.zero(chain.rank)
    if step.unclear:
        return None
    return Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])


@lru_cache(maxsize=20_000)
def sized(chain: Chain, sizes: Sizes) -> Chain | None:
    """The chain where its source has these sizes.

    None where a computed Pad hides them, or a running model has another number of axes.
    """
    front = in_front(chain)
    if front is None or len(sizes) != len(chain.axes):
        return None
    rows = zip(chain.axes, sizes, front.begins, front.ends, strict=True)
    return replace(chain, axes=tuple(axis._replace(size=n + b + e) for axis, n, b, e in rows))


@lru_cache(maxsize=20_000)
def in_numbers(chain: Chain, sizes: Sizes) -> Chain | None:
    """The chain at these sizes with SAME as the numbers that the ONNX text gives it.

    None where it is to run as it is written: its Pad is computed.
    """
    here = sized(chain, sizes)
    if here is None or not is_same(here.padding):
        return here
    pads = effective_pads(here)
    if isinstance(pads, Skip):
        return here
    return replace(here.with_padding(pads), ceil_mode=False, output_shape=())


def padded_cells(chain: Chain) -> tuple[int, ...]:
    """Cells on each side, of a Pad and the operator, begins first; () where they are unknown."""
    own, front = chain.padding, in_front(chain)
    return (own + front).flat if isinstance(own, Pads) and front is not None else ()


def telling_size(one: Chain, other: Chain, sizes: Sizes) -> Sizes | None:
    """The sizes nearest to these at which two ways of padding differ; None where none do."""
    for distance in range(1, _FARTHEST):
        for shift in (distance, -distance):
            near = tuple(size + shift for size in sizes)
            pair = (sized(one, near), sized(other, near)) if min(near) > 0 else (None, None)
            if pair[0] is not None and pair[1] is not None and differs(pair[0], pair[1]):
                return near
    return None
