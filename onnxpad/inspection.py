"""inspect: every node with padding, what it pads, how that is written, and what may go wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from onnxpad.chain import Chain, Pads, Skip
from onnxpad.conventions import fits
from onnxpad.effective import effective_pads
from onnxpad.fills import Constant
from onnxpad.forms import Form, forms_of
from onnxpad.geometry.size import show
from onnxpad.graph.models import ModelLike, open_model
from onnxpad.graph.reading.attributes import Unbound
from onnxpad.graph.reading.chains import Preference
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.document import address_of
from onnxpad.graph.reading.pads import constant_integers
from onnxpad.graph.reading.selecting import selection
from onnxpad.graph.reading.surroundings import Observer
from onnxpad.graph.reading.survey import Site, Survey
from onnxpad.ops import Kind
from onnxpad.traps import Shape, Surroundings, Trap, traps_of

SCHEMA = 1
Plain: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...]
Sizes: TypeAlias = tuple[int | str | None, ...] | None
_WRITTEN = (
    "auto_pad",
    "pads",
    "ceil_mode",
    "count_include_pad",
    "output_padding",
    "output_shape",
)


class PaddedNode(NamedTuple):
    """A node that pads, or can pad, as it is read from one kind of call.

    `node` is its address: scopes and name. `scope` is the id of the graph or function that it
    lives in ('' for the main graph), `calls` who calls that function in the way read here.
    Sizes are numbers, names, or None where nothing is known; a shape is None where not even the
    rank is. `pads` are begins, then ends, in cells: over the spatial axes, over all axes for Pad
    nodes; None where `reason` says why they cannot be known and `hints` what to try.
    """

    node: str
    scope: str
    calls: tuple[str, ...]
    op: str
    opset: int
    dtype: str
    input: str
    input_shape: Sizes
    output_shape: Sizes
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    written: Mapping[str, Plain]
    pads: tuple[int, ...] | None
    reason: str
    hints: tuple[str, ...]
    forms: tuple[str, ...]
    conventions: tuple[str, ...]
    traps: tuple[Trap, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data; `reason` and `try` only where the pads are not known."""
        found = self._asdict()
        found["written"] = {name: _jsonable(value) for name, value in self.written.items()}
        found["traps"] = [trap._asdict() for trap in self.traps]
        return found | {"try": found.pop("hints")}


@dataclass(frozen=True, eq=False)
class Inspection:
    """Every padded node of a model in graph order; `assumed` are the sizes that the user stated."""

    nodes: tuple[PaddedNode, ...]
    assumed: Mapping[str, int | str]

    @property
    def summary(self) -> dict[str, Any]:
        """Counts: nodes, those that pad, unevenly or by an unknown amount; traps; forms."""
        forms = [form for node in self.nodes for form in node.forms]
        return {
            "nodes": len(self.nodes),
            "padding": sum(1 for node in self.nodes if any(node.pads or ())),
            "asymmetric": sum(1 for node in self.nodes if _is_uneven(node.pads or ())),
            "unknown": sum(1 for node in self.nodes if node.pads is None),
            "traps": sum(len(node.traps) for node in self.nodes),
            "forms": {str(form): forms.count(form) for form in Form},
        }

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "schema": SCHEMA,
            "summary": self.summary,
            "assumed": dict(self.assumed),
            "nodes": [node.to_json() for node in self.nodes],
        }


def inspect(
    model: ModelLike,
    *,
    dims: Mapping[str, int | str] | None = None,
    nodes: str | Sequence[str] | None = None,
    ambiguous: Preference = None,
) -> Inspection:
    """List the padded nodes of a model; nothing is changed and nothing is run.

    `dims` says what is known of dimensions ({'height': 640, 'width': '%32==0'}), `nodes` are
    globs over node addresses, `ambiguous` says which of auto_pad and pads holds where a node has
    both. Raises RequestError for names that do not exist and ModelError for models that cannot
    be read.
    """
    opened = open_model(model)
    folder = opened.source.folder if opened.source else None
    survey = Survey(opened.model, dims=dims, folder=folder, prefer=ambiguous)
    selected, observer, known = selection(survey, nodes), Observer(), _Known()
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
    return Inspection(tuple(found.values()), dict(dims or {}))


class _Facts(NamedTuple):
    """What follows from a chain and its surroundings alone."""

    chain: Chain
    pads: Pads | Skip
    forms: tuple[str, ...]
    conventions: tuple[str, ...]
    traps: tuple[Trap, ...]


class _Known:
    """Facts, worked out once for nodes that compute the same: those share one Chain object."""

    def __init__(self) -> None:
        self._facts: dict[tuple[int, Surroundings], _Facts] = {}

    def of(self, chain: Chain, around: Surroundings) -> _Facts:
        key = (id(chain), around)
        if key not in self._facts:
            pads, forms = _pads(chain), forms_of(chain)
            known = None if isinstance(pads, Skip) else pads
            self._facts[key] = _Facts(
                chain,
                pads,
                tuple(str(form) for form in Form if form in forms),
                () if _is_behind_pad(chain) else fits(chain, known),
                traps_of(chain, around),
            )
        return self._facts[key]


def _record(site: Site, context: Context, facts: _Facts, around: Surroundings) -> PaddedNode:
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


def _is_uneven(pads: tuple[int, ...]) -> bool:
    return pads[: len(pads) // 2] != pads[len(pads) // 2 :]


def _pads(chain: Chain) -> Pads | Skip:
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None:
        return effective_pads(chain)
    return Skip(step.unclear) if step.unclear else step.pads


def _is_behind_pad(chain: Chain) -> bool:
    """Whether a Pad node in front pads as well, so that the operator's own pads say too little."""
    step = chain.pad
    return step is not None and (bool(step.unclear) or any(step.pads.flat))


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
    return found


def _jsonable(value: Plain) -> Plain:
    return str(value) if isinstance(value, float) and not isfinite(value) else value
