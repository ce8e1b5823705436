"""Of two models: the nodes with padding that were changed, as both models have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from onnxpad import processes
from onnxpad.model.comparing.networks import Network, open_network
from onnxpad.model.comparing.regions import Region, regions
from onnxpad.model.opened import ModelLike
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import Chain, Preference, Preferences
from onnxpad.validation.interface import matched


class ChangedPadding(NamedTuple):
    """A padded node of one model and the one in its place; None where the other has none.

    `nodes` are the labels of all that was changed with it, in each model.
    """

    label: str
    op: str
    before: Chain | None
    after: Chain | None
    nodes: tuple[tuple[str, ...], tuple[str, ...]]


def changed_padding(
    before: ModelLike,
    after: ModelLike,
    *,
    dims: Mapping[str, int | str] | None = None,
    ambiguous: Preference = None,
    timeout: float | None = None,
    memory: int | str | None = None,
) -> tuple[ChangedPadding, ...]:
    """Padded nodes of the main graph within parts that differ, in the order of the first model.

    The options are those of `validate`. Raises OnnxpadError where a model cannot be read, and
    LimitMet.
    """
    with processes.limited(timeout, memory):
        first = open_network(before)
        second = matched(_silent, first, open_network(after, first.folder))
        known = _sites(first, dims, ambiguous), _sites(second, dims, ambiguous)
    return tuple(one for region in regions(first, second) for one in _paired(region, known))


def _silent(_text: str) -> None:
    """What was said when the models were compared is not said again."""


def _sites(
    network: Network, dims: Mapping[str, int | str] | None, ambiguous: Preference
) -> dict[int, Site]:
    prefer = Preferences(ambiguous)
    survey = Survey(network.model, dims=dims, folder=network.folder, prefer=prefer)
    return {site.address.key: site for site in survey.sites_now() if site.address.scope == ""}


def _paired(
    region: Region, known: tuple[Mapping[int, Site], Mapping[int, Site]]
) -> Iterator[ChangedPadding]:
    """Each padded node with the next of its operator in the other model, else alone."""
    ours, theirs = (
        [sites[index] for index in indices if index in sites]
        for indices, sites in zip((region.before, region.after), known, strict=True)
    )
    labels = tuple(one.address.label for one in ours), tuple(one.address.label for one in theirs)
    left = list(theirs)
    for site in ours:
        other = next((one for one in left if one.op == site.op), None)
        if other is not None:
            left.remove(other)
        chain = None if other is None else other.chain
        yield ChangedPadding(site.address.label, site.op, site.chain, chain, labels)
    for site in left:
        yield ChangedPadding(site.address.label, site.op, None, site.chain, labels)
