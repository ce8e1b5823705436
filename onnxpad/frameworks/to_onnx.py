"""The ONNX nodes that compute a planned layer: a single node if ONNX has one for it."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan, nan

from onnxpad.errors import RequestError
from onnxpad.frameworks.choices import Fill, Outside
from onnxpad.frameworks.layer import Slide
from onnxpad.frameworks.steps import Window, add_bias, cut, in_a_row, multiply, pad
from onnxpad.frameworks.worked_out import WorkedOut
from onnxpad.geometry.windows import Axis, cells_within, output_size
from onnxpad.padding.chain import Pads
from onnxpad.padding.expansion import Step
from onnxpad.padding.fills import largest


def transposed_steps(slides: tuple[Slide, ...], group: int) -> list[Step]:
    """One ConvTranspose where pads and output_padding can say the crop.

    onnxruntime takes no output_padding from stride on, and no crop adds cells in front: those
    get the whole output, cut and padded with zeros, and the bias after that.
    """
    grow = tuple(max(0, -slide.end) for slide in slides)
    pads = Pads.of([(max(0, slide.begin), max(0, slide.end)) for slide in slides])
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


LOWEST = -largest("float32")
_SHORT = 100_000


def lower(plan: WorkedOut) -> tuple[Step, ...]:
    """The nodes in order. RequestError where no chain of nodes gives the same numbers."""
    return in_a_row(_steps(plan))


def _steps(plan: WorkedOut) -> list[Step]:
    if plan.is_transposed:
        return transposed_steps(plan.slides, plan.group)
    if not plan.is_pool:
        steps, slides = _crop(plan.slides)
        return [*steps, *_convolve(plan._replace(slides=slides))]
    inner, outer = _without_outer(plan, plan.slides)
    steps, inner = _crop(inner)
    steps += _max_pool(inner) if plan.op == "max_pool" else _average_pool(inner, bare=not outer)
    steps += outer
    if plan.scale != 1:
        steps.append(multiply(plan.scale))
    return steps


def _crop(slides: tuple[Slide, ...]) -> tuple[list[Step], tuple[Slide, ...]]:
    """Cut off what windows skip in front, and at the end what would make one window more."""
    starts = tuple(max(0, -slide.begin) for slide in slides)
    cuts = tuple(_too_much(slide) for slide in slides)
    if not any(starts) and not any(cuts):
        return [], slides
    ends = tuple(slide.size - cut for slide, cut in zip(slides, cuts, strict=True))
    if any(end <= start for start, end in zip(starts, ends, strict=True)):
        raise RequestError("negative padding leaves nothing of the input")
    kept = tuple(
        slide._replace(size=end - start, begin=max(0, slide.begin), end=max(0, slide.end))
        for slide, start, end in zip(slides, starts, ends, strict=True)
    )
    return [cut(starts, ends)], kept


def _too_much(slide: Slide) -> int:
    """Cells at the end that no window reads and that are enough for another stride."""
    unread = -slide.reach
    return unread if unread >= slide.stride else 0


def _end(slide: Slide) -> int:
    """The end pad to write: the framework's own where it gives as many windows, else the reach."""
    room = slide.size + slide.begin + slide.end - slide.span
    fits = slide.end >= 0 and room // slide.stride + 1 == slide.output
    return slide.end if fits else max(slide.reach, 0)


def _pads(slides: tuple[Slide, ...]) -> Pads:
    return Pads.of([(slide.begin, _end(slide)) for slide in slides])


def _read(slides: tuple[Slide, ...]) -> Pads:
    """What windows really read."""
    return Pads.of([(slide.begin, max(slide.reach, 0)) for slide in slides])


def _pool_pads(slides: tuple[Slide, ...]) -> Pads:
    pads = _pads(slides)
    return pads if _narrow(slides, pads) else _read(slides)


def _convolve(plan: WorkedOut) -> list[Step]:
    pads = _pads(plan.slides)
    nothing = Pads.zero(len(plan.slides))
    if plan.fill is Fill.ZEROS or not any(pads.flat):
        return [replace(Window.over("Conv", plan.slides, pads), group=plan.group).step]
    conv = replace(Window.over("Conv", plan.slides, nothing), group=plan.group)
    return [pad(pads, plan.fill), conv.step]


def _max_pool(slides: tuple[Slide, ...]) -> list[Step]:
    pads = _pool_pads(slides)
    if _narrow(slides, pads):
        return [Window.over("MaxPool", slides, pads).step]
    pool = Window.over("MaxPool", slides, Pads.zero(len(slides)))
    return [pad(pads, value=-inf), pool.step]


def _average_pool(slides: tuple[Slide, ...], *, bare: bool) -> list[Step]:
    """An average whose divisor counts `counted` padded cells and no others.

    Padded cells that count become real zeros where one node cannot say which count.
    """
    pads = _pool_pads(slides)
    counted = Pads.of([slide.counted_within for slide in slides])
    pool = Window.over("AveragePool", slides, pads)
    read = _read(slides)
    if _narrow(slides, pads):
        if not any(counted.flat):
            return [pool.step]
        if counted == read:
            return [replace(pool, count_include_pad=True).step]
        own = Pads(pads.begins, tuple(slide.end for slide in slides))
        if bare and _narrow(slides, own) and all(map(_is_ceil_mode, slides)):
            up = replace(pool, pads=own, ceil_mode=True, count_include_pad=True)
            return [up.step]
    rest = read + Pads(tuple(-n for n in counted.begins), tuple(-n for n in counted.ends))
    if not _narrow(slides, rest):
        raise RequestError(
            "onnxruntime takes no pads as wide as the kernel, and only pads stay out of a divisor"
        )
    return [pad(counted), replace(pool, pads=rest).step]


def _is_ceil_mode(slide: Slide) -> bool:
    """Whether ONNX's ceil_mode over the framework's own pads gives these windows and divisors."""
    axis = Axis(slide.size, slide.kernel, slide.stride, slide.dilation)
    up = output_size(axis, slide.begin, slide.end, ceil_mode=True)
    return slide.counted == (slide.begin, slide.end) and up == slide.output


def _narrow(slides: tuple[Slide, ...], pads: Pads) -> bool:
    """onnxruntime takes no pool whose pads reach its kernel_shape."""
    return all(max(pair) < one.kernel for one, pair in zip(slides, pads.sides, strict=True))


_Outer = tuple[int, int]
"""Windows of one axis that hold no cell: how many before and after the others."""


def _without_outer(
    plan: WorkedOut, slides: tuple[Slide, ...]
) -> tuple[tuple[Slide, ...], list[Step]]:
    """Leave out windows that hold nothing; Pad nodes write their results behind the pool."""
    outers = [_outer(slide) for slide in slides]
    inner: list[Slide] = []
    strips: list[tuple[float, Pads]] = []
    for index, (slide, outer) in enumerate(zip(slides, outers, strict=True)):
        before, after = outer
        count = slide.output - before - after
        if count < 1:
            raise RequestError("all windows lie outside the input: no ONNX node gives that")
        begin = slide.begin - before * slide.stride
        inner.append(slide._replace(begin=begin, output=count))
        if any(outer):
            pairs = [outer if axis == index else (0, 0) for axis in range(len(slides))]
            strips.append((_outside_value(plan.outside, slide, outer), Pads.of(pairs)))
    # Where strips of two axes cross, NaN wins: it is written last.
    strips.sort(key=lambda strip: isnan(strip[0]))
    return tuple(inner), [pad(pads, value=value) for value, pads in strips]


def _outer(slide: Slide) -> _Outer:
    low, high = -slide.counted[0], slide.size + slide.counted[1]
    if slide.dilation > 1 and high - low < slide.dilation:
        return _dilated_outer(slide, low, high)
    before = max(0, (slide.begin - slide.span + low) // slide.stride + 1)
    inside = -(-(high + slide.begin) // slide.stride)
    return before, max(0, slide.output - inside)


def _dilated_outer(slide: Slide, low: int, high: int) -> _Outer:
    """The same for taps that are farther apart than the input is wide: any window may miss it."""
    if slide.output > _SHORT:
        raise RequestError("too many windows over an input that is narrower than the dilation")
    reach = slide.kernel * slide.dilation
    empty = [
        not cells_within(range(start, start + reach, slide.dilation), low, high)
        for start in range(-slide.begin, slide.output * slide.stride - slide.begin, slide.stride)
    ]
    before = empty.index(False) if False in empty else len(empty)
    after = empty[::-1].index(False) if False in empty else 0
    if any(empty[before : len(empty) - after]):
        raise RequestError("a dilated window in the middle holds no cell: ONNX cannot say that")
    return before, after


def _outside_value(outside: Outside, slide: Slide, outer: _Outer) -> float:
    match outside:
        case Outside.LOWEST:
            return LOWEST
        case Outside.MINUS_INFINITY:
            return -inf
        case Outside.ZERO:
            return 0.0
        case Outside.QUOTIENT if outer == (0, 1):
            start = (slide.output - 1) * slide.stride - slide.begin
            return nan if start == slide.size + slide.counted[1] else 0.0
        case _:
            raise RequestError(
                "a window holds no cell of the input, and what the framework gives then is not "
                "known"
            )
