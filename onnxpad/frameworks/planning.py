"""A layer worked out: where its windows are, what padded cells hold, what averages divide by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.grouping import groups_of, read_weight
from onnxpad.frameworks.reading import Wish, read_wish
from onnxpad.frameworks.words import (
    Check,
    Divisor,
    Fill,
    Layer,
    Outside,
    Override,
    Pair,
    Rounding,
    Slide,
)
from onnxpad.geometry.windows import Axis


@dataclass(frozen=True, slots=True)
class Plan:
    """A layer in numbers: one `Slide` for each axis, and what holds for all.

    `scale` multiplies averages; `group` is 1 for pools. `channels` are those of the output, None
    where no weight says so.
    """

    op: str
    slides: tuple[Slide, ...]
    fill: Fill
    divisor: Divisor
    override: int | None
    scale: float
    group: int
    channels: int | None
    outside: Outside

    @property
    def is_pool(self) -> bool:
        """Whether the layer is a max or an average pool."""
        return self.op in {"max_pool", "avg_pool"}

    @property
    def is_transposed(self) -> bool:
        """Whether the layer is a transposed convolution."""
        return self.op == "conv_transpose"


def make_plan(
    layer: Layer,
    op: str,
    input_shape: Sequence[object],
    weight_shape: Sequence[object] | None,
    attributes: Mapping[str, object],
) -> Plan:
    """Work a layer out; sizes are in cells, shapes in ONNX layout (batch, channels, axes).

    A weight's channels may be None where only the kernel is known. RequestError for anything
    that is not a layer, or that the framework refuses itself.
    """
    shape, rank = _shape(input_shape, layer)
    weight = read_weight(weight_shape, rank, layer)
    wish = read_wish(layer, attributes, rank, weight[1] if weight else None)
    group, channels = groups_of(op, layer, wish, shape[1], weight[0] if weight else (None, None))
    divisor, scale = wish.divisor, 1.0
    if wish.override is not None:
        scale = prod(wish.kernel) / wish.override
        divisor = Divisor.WHOLE if layer.override is Override.SUM else divisor
    return Plan(
        op="conv" if layer.op == "depthwise_conv" else layer.op,
        slides=slides_of(layer.op, replace(wish, divisor=divisor), shape[2:], layer.checks),
        fill=wish.fill,
        divisor=divisor,
        override=wish.override,
        scale=scale,
        group=group,
        channels=channels,
        outside=layer.outside,
    )


def _shape(input_shape: Sequence[object], layer: Layer) -> tuple[tuple[int, ...], int]:
    found = values.items(input_shape) if values.is_list(input_shape) else []
    rank = len(found) - 2
    if rank not in layer.ranks:
        known = ", ".join(f"{one}-D" for one in sorted(layer.ranks))
        raise RequestError(
            f"input_shape is {input_shape!r}: give batch, channels and sizes ({known})"
        )
    return tuple(values.whole(size, "a size of input_shape", 1) for size in found), rank


def slides_of(
    op: str, wish: Wish, sizes: Sequence[int], checks: tuple[Check, ...]
) -> tuple[Slide, ...]:
    """The windows of each axis; RequestError where the framework, by its checks, refuses them."""
    slides = _slides(op, wish, sizes)
    for check in checks:
        if reason := check(slides):
            raise RequestError(reason)
    _fill_fits(wish.fill, slides)
    if op != "avg_pool":
        return slides
    return tuple(replace(slide, counted=_counted(wish.divisor, slide)) for slide in slides)


def _slides(op: str, wish: Wish, sizes: Sequence[int]) -> tuple[Slide, ...]:
    undilated = any(mode.undilated for mode in wish.modes)
    dilations = (1,) * len(sizes) if undilated else wish.dilations
    rows = zip(sizes, wish.kernel, wish.strides, dilations, strict=True)
    axes = [Axis(*row) for row in rows]
    if op == "conv_transpose":
        return tuple(_cut(wish, axis, index) for index, axis in enumerate(axes))
    pads = [_pair(wish, axis, index) for index, axis in enumerate(axes)]
    any_padded = any(any(pair) for pair in pads)
    found = []
    for index, axis in enumerate(axes):
        count = _windows(axis, sizes[index], pads[index], wish.rounding, any_padded=any_padded)
        begin, end = pads[index]
        found.append(
            Slide(sizes[index], axis.kernel, axis.stride, axis.dilation, begin, end, count)
        )
    return tuple(found)


def _pair(wish: Wish, axis: Axis, index: int) -> Pair:
    place = wish.modes[index].place
    if place is None:
        return wish.given[index].pads or (0, 0)
    return place(axis, wish.given[index])


def _cut(wish: Wish, axis: Axis, index: int) -> Slide:
    cut, size = wish.modes[index].cut, axis.size
    if cut is None or not isinstance(size, int):
        raise RequestError("this padding has no rule for transposed layers")
    crop = cut(axis, size, wish.given[index])
    full = (size - 1) * axis.stride + axis.span
    if crop.output < 1 or crop.begin >= full or crop.begin + crop.output <= 0:
        raise RequestError(
            f"nothing is left of axis {index + 2}: {values.many(size, 'cell')}, kernel "
            f"{axis.kernel}, stride {axis.stride} make {full}, of which "
            f"{crop.output} from {crop.begin} on are kept"
        )
    end = full - crop.begin - crop.output
    return Slide(size, axis.kernel, axis.stride, axis.dilation, crop.begin, end, crop.output)


def _windows(axis: Axis, size: int, pads: Pair, rounding: Rounding, *, any_padded: bool) -> int:
    begin, end = pads
    room = size + begin + end - axis.span
    if rounding is Rounding.EXACT and room >= 0 and room % axis.stride:
        raise RequestError(
            f"windows of stride {axis.stride} do not end at the border: {room % axis.stride} of "
            f"{values.many(size, 'cell')} with padding {begin} and {end} would be left over"
        )
    count = room // axis.stride + 1
    if rounding not in {Rounding.DOWN, Rounding.EXACT}:
        count = -(-room // axis.stride) + 1
        clips = {
            Rounding.UP: True,
            Rounding.UP_FROM_ONE: True,
            Rounding.UP_ALL: False,
            Rounding.UP_IF_ANY_PADDED: any_padded,
            Rounding.UP_IF_AXIS_PADDED: any(pads),
        }[rounding]
        count -= clips and (count - 1) * axis.stride >= size + begin
    if rounding is Rounding.UP_FROM_ONE:
        count = max(count, 1)
    if count < 1:
        raise RequestError(
            f"a window of {values.many(axis.span, 'cell')} does not fit: the input has {size} on "
            f"that axis, padding {begin} and {end}"
        )
    return count


def _counted(divisor: Divisor, slide: Slide) -> Pair:
    """Padded cells that an average counts at each side."""
    begin, end = max(slide.begin, 0), max(slide.end, 0)
    match divisor:
        case Divisor.PADDED:
            return (begin, end)
        case Divisor.WHOLE:
            return (begin, max(slide.reach, 0))
        case Divisor.BEGIN_PADDED:
            return (begin, begin)
        case _:
            return (0, 0)


def _fill_fits(fill: Fill, slides: tuple[Slide, ...]) -> None:
    """Mirrored padding needs cells to mirror: fewer than the size, or as many for wrap."""
    for slide in slides:
        most = slide.size - 1 if fill is Fill.REFLECT else slide.size
        if fill in {Fill.REFLECT, Fill.WRAP} and max(slide.begin, slide.end) > most:
            raise RequestError(
                f"{fill} padding of {values.many(max(slide.begin, slide.end), 'cell')} needs more "
                f"than the {slide.size} of the input"
            )
