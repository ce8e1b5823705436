"""Of two models: the nodes with padding that were changed, as both models have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from onnxpad import processes
from onnxpad.model.comparing.changes import changed_nodes
from onnxpad.model.comparing.networks import Network, open_network
from onnxpad.model.opened import ModelLike
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Chain, Preference, Preferences
from onnxpad.validation.bench import silent
from onnxpad.validation.interface import matched


class ChangedPadding(NamedTuple):
    """A padded node of one model and the one in its place; None where the other has none."""

    label: str
    op: str
    before: Chain | None
    after: Chain | None


def changed_padding(
    before: ModelLike,
    after: ModelLike,
    *,
    dims: Mapping[str, int | str] | None = None,
    ambiguous: Preference = None,
    timeout: float | None = None,
    memory: int | str | None = None,
) -> tuple[ChangedPadding, ...]:
    """Padded nodes of the main graph that differ, in the order of the first model.

    The options are those of `validate`. Raises OnnxpadError where a model cannot be read, and
    LimitMet.
    """
    with processes.limited(timeout, memory):
        first = open_network(before)
        second = matched(silent, first, open_network(after, first.folder))
        sides = [
            [sites[index] for index in indices if index in sites]
            for indices, sites in zip(
                changed_nodes(first, second),
                (_sites(one, dims, ambiguous) for one in (first, second)),
                strict=True,
            )
        ]
    return tuple(_paired(sides[0], sides[1]))


def _sites(
    network: Network, dims: Mapping[str, int | str] | None, ambiguous: Preference
) -> dict[int, Site]:
    prefer = Preferences(ambiguous)
    survey = Survey(network.model, dims=dims, folder=network.folder, prefer=prefer)
    return {site.address.key: site for site in survey.sites_now() if site.address.scope == ""}


def _paired(ours: Sequence[Site], theirs: Sequence[Site]) -> Iterator[ChangedPadding]:
    """Each padded node with the one that makes its tensor, or the next of its operator."""
    left = list(theirs)
    for site in ours:
        alike = [one for one in left if one.op == site.op]
        same = [one for one in alike if set(one.node.outputs) & set(site.node.outputs)]
        other = next(iter(same or alike), None)
        if other is not None:
            left.remove(other)
        chain = None if other is None else other.chain
        yield ChangedPadding(site.address.label, site.op, site.chain, chain)
    for site in left:
        yield ChangedPadding(site.address.label, site.op, None, site.chain)
