"""inspect: every node with padding, what it pads, how that is written, and what may go wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from onnxpad.chain import Chain, Skip
from onnxpad.fills import Constant
from onnxpad.geometry.size import show
from onnxpad.graph.models import ModelLike, Opened, open_model
from onnxpad.graph.reading.attributes import Unbound
from onnxpad.graph.reading.chains import Preference, Preferences
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.model_inputs import beyond_batch
from onnxpad.graph.reading.ordering import Address
from onnxpad.graph.reading.pads import constant_integers
from onnxpad.graph.reading.scopes import address_of
from onnxpad.graph.reading.selecting import selection
from onnxpad.graph.reading.surroundings import Observer
from onnxpad.graph.reading.survey import Site, Survey
from onnxpad.inspection.facts import Facts, Known, with_far_pad
from onnxpad.inspection.records import Inspection, PaddedNode, Plain, Sizes
from onnxpad.ops import Kind
from onnxpad.planning.verdicts import Opening, Verdict
from onnxpad.targets import find_target
from onnxpad.traps import Shape, Surroundings

__all__ = ["Inspection", "PaddedNode", "inspect"]

Device: TypeAlias = Literal["cpu", "cuda"]
_WRITTEN = (
    "auto_pad",
    "pads",
    "ceil_mode",
    "count_include_pad",
    "output_padding",
    "output_shape",
)


def inspect(
    model: ModelLike,
    *,
    dims: Mapping[str, int | str] | None = None,
    nodes: str | Sequence[str] | None = None,
    ambiguous: Preference = None,
    target: str | Sequence[str] | None = None,
    device: Device | None = None,
) -> Inspection:
    """List the padded nodes of a model; nothing is changed and nothing is run.

    `dims` says what is known of dimensions ({'height': 640, 'width': '%32=0'}), `nodes` are
    globs over node addresses, `ambiguous` says which of auto_pad and pads holds where a node has
    both. `target` are runtimes: the report then says of every node what each does with it, how
    that is known, and what a rewrite would do. `device` opens the model with onnxruntime and says
    which provider runs each node. Raises RequestError for names that do not exist, ModelError for
    models that cannot be read or opened, and RuntimeUnavailable where there is no such device.
    """
    names = [target] if isinstance(target, str) else target or ()
    for name in names:
        find_target(name)
    opened = open_model(model)
    folder = opened.source.folder if opened.source else None
    survey = Survey(
        opened.model, dims=dims, folder=folder, prefer=Preferences(ambiguous), thorough=True
    )
    selected = selection(survey, nodes)
    found = _records(survey, selected)
    sizes = beyond_batch(opened.model, dims)
    told = _told(survey, names, selected, sizes) if names else {}
    places = _placed(opened, survey, selected, device) if device else {}
    openings = {name: opened_up for name, (_, opened_up) in told.items()}
    verdicts = {name: judged for name, (judged, _) in told.items()}
    return Inspection(found, dict(dims or {}), verdicts, places, device or "", openings)


def _records(survey: Survey, selected: Callable[[Address], bool]) -> tuple[PaddedNode, ...]:
    """One for each node, or for each way in which it is called."""
    observer, known = Observer(), Known()
    found: dict[object, PaddedNode] = {}
    for site in survey.sites():
        if not selected(site.address):
            continue
        for context, chain in zip(site.contexts, site.chains, strict=True):
            around = observer.around(context, site.node, chain)
            key = (site.address, (chain, around) if len(site.chains) > 1 else None)
            if key in found:
                calls = found[key].calls + _calls(context)
                found[key] = found[key]._replace(calls=calls)
            else:
                found[key] = _record(site, context, known.of(chain, around), around)
    return tuple(found.values())


def _told(
    survey: Survey,
    names: Sequence[str],
    selected: Callable[[Address], bool],
    dims: Mapping[str, int | str] | None,
) -> dict[str, tuple[tuple[Verdict, ...], Opening]]:
    """For each target its verdicts, and what would help where there is no way."""
    from onnxpad.planning.judged import verdicts  # loads every pass
    from onnxpad.planning.openings import opening
    from onnxpad.planning.requests import planner

    told = {}
    for name in names:
        if one := planner(name, dims):
            found = tuple(verdicts(survey, one, selected))
            told[name] = found, opening(survey, one, selected, found)
    return told


def _placed(
    opened: Opened, survey: Survey, selected: Callable[[Address], bool], device: Device
) -> dict[str, str]:
    from onnxpad.inspection.placing import placed  # opens sessions

    return placed(opened, survey.sites(), selected, device)


def _record(site: Site, context: Context, facts: Facts, around: Surroundings) -> PaddedNode:
    chain, pads = facts.chain, facts.pads
    return PaddedNode(
        node=site.address.label,
        scope=site.address.scope,
        calls=_calls(context),
        op=chain.op.title,
        opset=chain.opset,
        dtype=chain.dtype,
        input=site.node.inputs[0] if site.node.inputs else "",
        input_shape=_plain_sizes(around.input_shape),
        output_shape=_plain_sizes(around.output_shape),
        kernel=tuple(axis.kernel for axis in chain.axes),
        strides=tuple(axis.stride for axis in chain.axes),
        dilations=tuple(axis.dilation for axis in chain.axes),
        written=_written(context, site, chain),
        pads=None if isinstance(pads, Skip) else pads.flat,
        reason=pads.reason if isinstance(pads, Skip) else "",
        hints=pads.hints if isinstance(pads, Skip) else (),
        forms=facts.forms,
        conventions=facts.conventions,
        traps=facts.traps,
    )


def _calls(context: Context) -> tuple[str, ...]:
    root: Context | None = context
    while root is not None and root.caller is None:
        root = root.outer
    if root is None:
        return ()
    return tuple(address_of(caller.scope, call).label for caller, call in root.calls)


def _plain_sizes(shape: Shape) -> Sizes:
    if shape is None:
        return None
    return tuple(size if size is None or isinstance(size, int) else show(size) for size in shape)


def _written(context: Context, site: Site, chain: Chain) -> dict[str, Plain]:
    """What of the padding stands in the file, in its own words."""
    attributes = context.attributes(site.node)
    found: dict[str, Plain] = {}
    for name in _WRITTEN:
        if (value := attributes.get(name)) is not None:
            found[name] = f"@{value.name}" if isinstance(value, Unbound) else value
    if chain.op.kind is Kind.PAD and chain.pad is not None:
        found["mode"] = chain.pad.mode
        if chain.pad.mode == "constant":
            fill = chain.pad.fill
            found["value"] = fill.value if isinstance(fill, Constant) else str(fill)
        for name, position in (("pads", 1), ("axes", 3)):
            inputs = site.node.inputs[position : position + 1]
            if inputs and inputs[0]:
                found[name] = constant_integers(context, inputs[0]) or f"'{inputs[0]}'"
    crossed = with_far_pad(chain).pad
    if crossed is not None and crossed.crossed:
        found["pad_through"] = ", ".join(crossed.crossed)
    return found
