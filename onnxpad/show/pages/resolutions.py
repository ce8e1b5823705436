"""Resolved layers as pages: which cells the framework's layer reads."""

from __future__ import annotations

from onnxpad.frameworks.choices import Fill
from onnxpad.resolving import Resolution
from onnxpad.show.pages.drawings import NOT_COUNTED, Drawing, Frame
from onnxpad.show.pages.figures import legend, sentence, window_figure
from onnxpad.show.pages.page import Card, Page, Picture, Section
from onnxpad.show.resolutions import resolution_text
from onnxpad.show.wording import visible


def layer_drawing(found: Resolution) -> Drawing:
    """What a layer of a framework reads, or writes where it is transposed."""
    slides, scatters = found.plan.slides, found.plan.is_transposed
    sign = -1 if scatters else 1
    begins = tuple(sign * slide.begin for slide in slides)
    ends = tuple(sign * slide.end for slide in slides)
    frame = Frame(begins, ends, _held(found), found.framework)
    cells = [(s.size - 1) * s.stride + s.span if scatters else s.size for s in slides]
    return Drawing(
        f"{found.framework} {found.op}",
        tuple(cells),
        tuple(slide.kernel for slide in slides),
        tuple(slide.stride for slide in slides),
        tuple(slide.dilation for slide in slides),
        (frame,) * any(begins + ends),
        tuple(slide.size if scatters else slide.output for slide in slides),
        scatters,
    )


def _held(found: Resolution) -> str:
    if found.plan.is_transposed:
        return ""
    if not found.plan.is_pool:
        return "0" if found.fill == str(Fill.ZEROS) else str(found.fill)
    if found.divisor is None:
        return "the lowest value"
    counted = all(slide.counted == (slide.begin, slide.end) for slide in found.plan.slides)
    return "0" if counted else NOT_COUNTED


def resolution_page(found: Resolution) -> Page:
    """The page about one layer."""
    head, _, rest = resolution_text(found).partition("\n\n")
    drawing = layer_drawing(found)
    card = Card(
        "layer",
        drawing.op,
        visible(sentence(drawing)),
        (Picture(window_figure(drawing)),),
        legend(drawing),
    )
    said = tuple(line for line in rest.split("\n\n")[-1].splitlines() if line)
    return Page(
        "Layer",
        drawing.op,
        "",
        head,
        said,
        (),
        (Section("drawing", "What its windows read", cards=(card,), windows=True),),
    )
