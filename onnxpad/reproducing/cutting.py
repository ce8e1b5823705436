"""One node of a user's model with its padding, as a small model of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from onnxpad.errors import RequestError
from onnxpad.model.assembled import Array
from onnxpad.model.excerpt import excerpt
from onnxpad.model.opened import Model, ModelLike, open_model
from onnxpad.model.reading.survey import Site, Survey, selection
from onnxpad.model.standing_alone import left_out, standing_alone
from onnxpad.reproducing.specimens import values
from onnxpad.runtimes.judge import Judgement, judge
from onnxpad.runtimes.targets import Target


@dataclass(frozen=True)
class Cut:
    """A node that was cut out: the model, an input, what the target does with it, and notes."""

    label: str
    model: Model
    inputs: Mapping[str, Array]
    judgement: Judgement
    about: tuple[str, ...]


def cut_out(
    model: ModelLike, target: Target, node: str, dims: Mapping[str, int | str] | None
) -> Cut:
    """The node at an address with the Pads in front of it and what computes their pads."""
    opened = open_model(model)
    folder = opened.source.folder if opened.source else None
    survey = Survey(opened.model, dims=dims, folder=folder)
    selected = selection(survey, node)
    sites = [site for site in survey.sites_now() if selected(site.address)]
    if len(sites) > 1:
        raise RequestError(
            f"--reproduce is about one node, and '{node}' names {len(sites)}: "
            f"{', '.join(site.address.label for site in sites[:3])}"
        )
    (site,) = sites
    place, found = max(
        enumerate(judge(target, chain) for chain in site.chains),
        key=lambda pair: pair[1].answer.rank,
    )
    if not found.answer.fails:
        return Cut(site.address.label, opened.model, {}, found, ())
    part = excerpt(site.contexts[place], site.node)
    kind = site.chain.op.kind
    name = site.node.name or site.address.label
    cut, feeds = standing_alone(part, name, partial(values, kind=kind))
    about = [f"{one} was replaced by small whole numbers" for one in left_out(part)]
    about += _changed(target, cut, found, site)
    return Cut(site.address.label, cut, feeds, found, tuple(about))


def _changed(target: Target, cut: Model, found: Judgement, site: Site) -> list[str]:
    """What is known of the cut model that is not known of the node where it stands."""
    alone = [
        judge(target, chain)
        for one in Survey(cut).sites_now()
        if one.op == site.op
        for chain in one.chains
    ]
    if any(one.rows == found.rows for one in alone):
        return []
    told = f"alone, not all holds that holds of it in the model ({found.reason})"
    return [f"{told}: it may not show the fault"]
