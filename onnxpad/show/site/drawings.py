"""Pictures of the reference: what a pass does, how a convention pads, what a form looks like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnxpad.errors import OnnxpadError, RequestError
from onnxpad.frameworks.choices import Role
from onnxpad.frameworks.conventions import all_conventions
from onnxpad.frameworks.layer import Layer
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.padding.forms import Form, forms_of
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import ways
from onnxpad.resolving import Resolution, resolve_general
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.resolutions import layer_drawing
from onnxpad.show.site.conformance import address_of

_CELLS, _KERNEL, _STRIDE = (7, 8), 3, 2


class Shown(NamedTuple):
    """A figure with its words; `link` leads to the page of the model that it is about."""

    title: str
    svg: str
    text: str
    key: str
    link: str = ""


def of_chain(title: str, chain: Chain, link: str = "") -> Iterator[Shown]:
    """One padded node; nothing where it cannot be drawn."""
    return _drawn(title, drawing_of(chain), link)


def _drawn(title: str, drawing: Drawing, link: str = "") -> Iterator[Shown]:
    if svg := window_figure(drawing, title=title):
        yield Shown(title, svg, sentence(drawing), legend(drawing), link)


def of_form(form: Form) -> Iterator[Shown]:
    """The smallest model that is written so."""
    for way in (way for way in ways() if form in forms_of(way.chain)):
        yield from of_chain(way.title, way.chain, address_of("way", way.name))
        return


def of_pass(name: str) -> Iterator[Shown]:
    """A model before and after the pass, the first that it changes."""
    rule = all_passes()[name]
    wanted = rule.removes | rule.may_remove
    for way in ways():
        if not any(wanted & forms_of(chain) for chain in way.chains):
            continue
        try:
            made = rewrite(drafted(way.specimen)[0], passes=name)
        except OnnxpadError:
            continue
        if made.changes:
            yield from of_chain(f"before: {way.title}", way.chain, address_of("way", way.name))
            chains = [site.chain for site in Survey(made.model).sites_now()]
            same = [chain for chain in chains if chain.op.title == way.operator]
            for number, chain in enumerate(same or chains, 1):
                yield from of_chain(f"after: {chain.op.title} ({number})", chain)
            return


def of_convention(name: str) -> Iterator[Shown]:
    """Each way in which a framework's layers can be told to pad, worked out."""
    convention = all_conventions().get(name)
    for layer in convention.layers if convention else ():
        for padding in _paddings(layer):
            if found := _worked_out(name, layer, padding):
                said = "padding left to itself" if padding is None else f"padding {padding!r}"
                drawing = layer_drawing(found)._replace(op=found.op)
                yield from _drawn(f"{layer.op}, {said}", drawing)


def _paddings(layer: Layer) -> list[object]:
    words = [word for word in layer.words if word.role is Role.PADDING]
    names = dict.fromkeys(name for word in words for name in word.modes if isinstance(name, str))
    return [*names, *([1] if any(word.layouts for word in words) else [])] or [None]


def _worked_out(name: str, layer: Layer, padding: object) -> Resolution | None:
    """The layer with a kernel of 3 and, where it may, a stride of 2."""
    rank = 2 if 2 in layer.ranks else min(layer.ranks)
    sizes = _CELLS if rank == len(_CELLS) else _CELLS[:1] * rank
    for stride in (_STRIDE, 1, None):
        general = {Role.KERNEL: _KERNEL, Role.STRIDE: stride, Role.PADDING: padding}
        given = {role: value for role, value in general.items() if value is not None}
        try:
            return resolve_general(
                name,
                layer.op,
                input_shape=(1, 1, *sizes),
                weight_shape=None,
                general=given,
                attributes={},
            )
        except RequestError:
            continue
    return None
