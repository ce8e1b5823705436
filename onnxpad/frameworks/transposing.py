"""From a transposed layer to ONNX nodes."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.frameworks.steps import Window, add_bias, cut, pad
from onnxpad.frameworks.words import Slide
from onnxpad.padding.chain import Pads
from onnxpad.padding.expansion import Step


def transposed_steps(slides: tuple[Slide, ...], group: int) -> list[Step]:
    """One ConvTranspose where pads and output_padding can say the crop.

    onnxruntime takes no output_padding from stride on, and no crop adds cells in front: those
    get the whole output, cut and padded with zeros, and the bias after that.
    """
    grow = tuple(max(0, -slide.end) for slide in slides)
    pads = Pads(
        tuple(max(0, slide.begin) for slide in slides), tuple(max(0, slide.end) for slide in slides)
    )
    node = replace(Window.over("ConvTranspose", slides, pads), group=group, output_padding=grow)
    if all(_is_attribute(slide) for slide in slides):
        return [node.step]
    zero = Pads.zero(len(slides))
    plain = replace(node, pads=zero, output_padding=(), takes_bias=False)
    full = tuple((slide.size - 1) * slide.stride + slide.span for slide in slides)
    steps = [plain.step]
    if any(pads.flat):
        ends = tuple(size - end for size, end in zip(full, pads.ends, strict=True))
        steps.append(cut(pads.begins, ends))
    before = tuple(max(0, -slide.begin) for slide in slides)
    return [*steps, pad(Pads(before, grow)), add_bias(len(slides))]


def _is_attribute(slide: Slide) -> bool:
    return slide.begin >= 0 and -slide.end < slide.stride
