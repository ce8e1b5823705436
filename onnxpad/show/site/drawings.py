"""Pictures of the reference: what a pass does, how a convention pads, what a form looks like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from onnxpad.errors import OnnxpadError, RequestError
from onnxpad.frameworks.choices import Role
from onnxpad.frameworks.conventions import all_conventions
from onnxpad.frameworks.layer import Layer
from onnxpad.model.opened import Model
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.padding.forms import Form, forms_of
from onnxpad.padding.operators import Kind
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import Way, ways
from onnxpad.resolving import Resolution, resolve_general
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.resolutions import layer_drawing
from onnxpad.show.site.links import address_of

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
    yield from _drawn(title, drawing_of(chain), link)


def _drawn(title: str, drawing: Drawing, link: str = "") -> Iterator[Shown]:
    if svg := window_figure(drawing, title=title):
        yield Shown(title, svg, sentence(drawing), legend(drawing), link)


def of_form(form: Form) -> Iterator[Shown]:
    """The smallest model that is written so."""
    way = next((way for way in ways() if form in forms_of(way.chain)), None)
    if way is not None:
        yield from of_chain(way.title, way.chain, address_of("way", way.name))


def of_pass(name: str) -> Iterator[Shown]:
    """A model before and after the pass, the first that it changes."""
    rule = all_passes()[name]
    wanted = rule.removes | rule.may_remove
    for way in ways():
        if not any(wanted & forms_of(chain) for chain in way.chains):
            continue
        model, _ = drafted(way.specimen)
        try:
            made = rewrite(model, passes=name)
        except OnnxpadError:
            continue
        if made.changes:
            yield from of_chain(f"before: {way.title}", way.chain, address_of("way", way.name))
            for number, chain in enumerate(_after(made.model, way)):
                yield from of_chain(f"after: {_called(chain, number)}", chain)
            return


def _after(model: Model, way: Way) -> Sequence[Chain]:
    """The padded nodes that are left: those of the operator, or what stands in its place."""
    chains = [site.chain for site in Survey(model).sites_now()]
    same = [chain for chain in chains if chain.op.title == way.operator]
    return same or chains


def _called(chain: Chain, number: int) -> str:
    pads = "behind a Pad node" if chain.pad is not None and chain.op.kind is not Kind.PAD else ""
    return " ".join(filter(None, (chain.op.title, pads, f"({number + 1})" if number else "")))


def of_convention(name: str) -> Iterator[Shown]:
    """Each way in which a framework's layers can be told to pad, worked out."""
    convention = all_conventions().get(name)
    for layer in convention.layers if convention else ():
        for padding in _paddings(layer):
            found = _worked_out(name, layer, padding)
            if found is not None:
                said = "padding left to itself" if padding is None else f"padding {padding!r}"
                yield from _drawn(f"{layer.op}, {said}", _of_resolution(found))


def _paddings(layer: Layer) -> Iterator[object]:
    words = [word for word in layer.words if word.role is Role.PADDING]
    names = dict.fromkeys(name for word in words for name in word.modes if isinstance(name, str))
    yield from names
    if any(word.layouts for word in words):
        yield 1
    elif not names:
        yield None


def _worked_out(name: str, layer: Layer, padding: object) -> Resolution | None:
    """The layer with a kernel of 3 and, where it may, a stride of 2."""
    rank = 2 if 2 in layer.ranks else min(layer.ranks)
    for stride in (_STRIDE, 1, None):
        general = {Role.KERNEL: _KERNEL, Role.STRIDE: stride, Role.PADDING: padding}
        given = {role: value for role, value in general.items() if value is not None}
        try:
            return resolve_general(
                name,
                layer.op,
                input_shape=(1, 1, *_CELLS[:rank]) if rank == 2 else (1, 1, *_CELLS[:1] * rank),
                weight_shape=None,
                general=given,
                attributes={},
            )
        except RequestError:
            continue
    return None


def _of_resolution(found: Resolution) -> Drawing:
    drawn = layer_drawing(found)
    if not drawn.scatters:
        return drawn._replace(op=found.op)
    labels = tuple(f"written by {slide.size}" for slide in found.plan.slides)
    return drawn._replace(op=found.op, labels=labels)
