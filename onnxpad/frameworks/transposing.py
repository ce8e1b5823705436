"""From a transposed layer to ONNX nodes."""

from __future__ import annotations

from onnxpad.frameworks.steps import AddBias, PadWith, SliceStep, Step, Windows
from onnxpad.frameworks.words import Slide
from onnxpad.padding.chain import Pads


def transposed_steps(slides: tuple[Slide, ...], group: int) -> tuple[Step, ...]:
    """One ConvTranspose where pads and output_padding can say the crop.

    onnxruntime takes no output_padding from stride on, and no crop adds cells in front: those
    get the whole output, cut and padded with zeros, and the bias after that.
    """
    grow = tuple(max(0, -slide.end) for slide in slides)
    pads = Pads(
        tuple(max(0, slide.begin) for slide in slides), tuple(max(0, slide.end) for slide in slides)
    )
    node = Windows(
        "ConvTranspose",
        tuple(slide.kernel for slide in slides),
        tuple(slide.stride for slide in slides),
        tuple(slide.dilation for slide in slides),
        pads,
        group,
        grow,
    )
    if all(_is_attribute(slide) for slide in slides):
        return (node,)
    plain = Windows(
        node.op,
        node.kernel,
        node.strides,
        node.dilations,
        Pads.zero(len(slides)),
        group,
        takes_bias=False,
    )
    full = tuple((slide.size - 1) * slide.stride + slide.span for slide in slides)
    steps: list[Step] = [plain]
    if any(pads.flat):
        ends = tuple(size - end for size, end in zip(full, pads.ends, strict=True))
        steps.append(SliceStep(pads.begins, ends))
    before = tuple(max(0, -slide.begin) for slide in slides)
    return (*steps, PadWith(Pads(before, grow)), AddBias())


def _is_attribute(slide: Slide) -> bool:
    return slide.begin >= 0 and -slide.end < slide.stride
