"""Of two models: the nodes whose padding was changed, as both models have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from onnxpad import processes
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
    """Padded nodes of the main graph that pad otherwise, in the order of the first model.

    A node stands in the place of the one that makes the same tensor. The options are those of
    `validate`. Raises OnnxpadError where a model cannot be read, and LimitMet.
    """
    with processes.limited(timeout, memory):
        first = open_network(before)
        second = matched(silent, first, open_network(after, first.folder))
        ours, theirs = (_sites(one, dims, ambiguous) for one in (first, second))
    pairs = ((ours.get(name), theirs.get(name)) for name in dict.fromkeys((*ours, *theirs)))
    chains = ((pair, [site.chain if site else None for site in pair]) for pair in pairs)
    return tuple(
        ChangedPadding(site.address.label, site.op, before_, after_)
        for (was, now), (before_, after_) in chains
        if (site := was or now) and before_ != after_
    )


def _sites(
    network: Network, dims: Mapping[str, int | str] | None, ambiguous: Preference
) -> dict[str, Site]:
    """The padded nodes of the main graph by the tensor that they make."""
    prefer = Preferences(ambiguous)
    survey = Survey(network.model, dims=dims, folder=network.folder, prefer=prefer)
    sites = (site for site in survey.sites_now() if site.address.scope == "")
    return {site.node.outputs[0]: site for site in sites}
