"""A layer worked out: where its windows are, what padded cells hold, what averages divide by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from onnxpad.errors import RequestError, counted
from onnxpad.frameworks import values
from onnxpad.frameworks.choices import (
    Divisor,
    Fill,
    Layout,
    Outside,
    Override,
    Role,
    Rounding,
    Special,
)
from onnxpad.frameworks.layer import Check, Choice, Given, Layer, Mode, Pair, Slide, Word
from onnxpad.geometry.windows import Axis, output_size

_LEAST = {Role.KERNEL: 1, Role.STRIDE: 1, Role.DILATION: 1, Role.GROWTH: 0, Role.EXTENT: 1}


class Wish(NamedTuple):
    """What was asked of a layer, in the engine's words; tuples hold one value for each axis."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    modes: tuple[Mode, ...]
    given: tuple[Given, ...]
    fill: Fill
    rounding: Rounding
    divisor: Divisor
    override: int | None
    groups: int | None


def read_wish(
    layer: Layer, attributes: Mapping[str, object], rank: int, kernel: tuple[int, ...] | None
) -> Wish:
    """Read a layer's attributes; `kernel` is the weight's, None where there is no weight.

    RequestError for unknown names (with the nearest), missing, wrong or contradicting values.
    """
    given = _by_word(layer, attributes)
    own = _numbers(layer, given, Role.KERNEL, rank, None)
    if own and kernel and own != kernel:
        raise RequestError(f"the kernel is {list(own)}, but the weight's is {list(kernel)}")
    window = own or kernel
    if window is None:
        raise RequestError(
            f"the kernel is missing: give {_where_kernel(layer)} (command line: --kernel K"
            f"{'' if layer.op.endswith('pool') else ', or --weight M,C,K'})"
        )
    ones = (1,) * rank
    modes, pads = _padding(layer, given, rank)
    growth = _numbers(layer, given, Role.GROWTH, rank, window)
    extent = _numbers(layer, given, Role.EXTENT, rank, window)
    return Wish(
        kernel=window,
        strides=_numbers(layer, given, Role.STRIDE, rank, window) or ones,
        dilations=_numbers(layer, given, Role.DILATION, rank, window) or ones,
        modes=modes,
        given=tuple(
            pads[axis]._replace(
                growth=growth[axis] if growth else None, extent=extent[axis] if extent else None
            )
            for axis in range(rank)
        ),
        fill=next((mode.fill for mode in modes if mode.fill), None)
        or _choice(layer, given, Role.FILL, Fill.ZEROS),
        rounding=next((mode.rounding for mode in modes if mode.rounding), None)
        or _choice(layer, given, Role.ROUNDING, layer.rounding),
        divisor=_choice(layer, given, Role.DIVISOR, layer.divisor),
        override=_one(layer, given, Role.OVERRIDE),
        groups=_one(layer, given, Role.GROUPS),
    )


def _by_word(layer: Layer, attributes: Mapping[str, object]) -> dict[str, object]:
    """Values by the first name of their word, defaults filled in; labels are checked here."""
    names = {name: word for word in layer.words for name in word.names}
    found: dict[str, object] = {word.name: word.default for word in layer.words}
    seen: dict[str, str] = {}
    for name, value in attributes.items():
        if name not in names:
            raise RequestError(f"no attribute is called '{name}'{values.hint(name, dict(names))}")
        word = names[name]
        if word.name in seen:
            raise RequestError(f"'{seen[word.name]}' and '{name}' mean the same: give one")
        seen[word.name] = name
        if value is not None or None in word.choices:
            found[word.name] = value
    for word in layer.words:
        value = found[word.name]
        if value is Special.REQUIRED:
            option = "--kernel K" if word.role is Role.KERNEL else f"--set {word.name}=VALUE"
            raise RequestError(f"'{word.name}' is missing{_takes(word)} (command line: {option})")
        if word.role is Role.LABEL and value is not None and word.choices:
            values.chosen(value, word.name, word.choices)
    return found


def _numbers(
    layer: Layer, given: Mapping[str, object], role: Role, rank: int, window: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """The numbers of a role for each axis; words for single axes win over the one for all."""
    found: tuple[int, ...] | None = None
    plain, missing = False, []
    for word in sorted(layer.of(role), key=lambda word: word.axis is not None):
        value = given[word.name]
        if word.axis is None and value is not None:
            plain, special = True, value is Special.KERNEL
            found = window if special else values.per_axis(value, word, rank, _LEAST[role])
        elif word.axis is not None and word.axis < rank and value is not None:
            held = list(found or (1,) * rank)
            held[word.axis] = values.whole(value, word.name, _LEAST[role])
            found = tuple(held)
        elif word.axis is not None and word.axis < rank:
            missing.append(word.name)
    if role is Role.KERNEL and found and missing and not plain:
        raise RequestError(f"'{missing[0]}' is missing")
    return found


def _padding(
    layer: Layer, given: Mapping[str, object], rank: int
) -> tuple[tuple[Mode, ...], tuple[Given, ...]]:
    """The mode of each axis, and the numbers that it is given."""
    modes = (layer.number,) * rank
    pads: tuple[Given, ...] = (Given(),) * rank
    for word in layer.of(Role.PADDING):
        value = given[word.name]
        if value is None:
            continue
        if word.axis is not None:
            if word.axis < rank:
                number = values.whole(value, word.name, 0)
                axis = Given((number, number))
                pads = tuple(axis if i == word.axis else pads[i] for i in range(rank))
        elif Layout.FLAGS in word.layouts:
            modes = tuple(word.modes[flag] for flag in values.flags(value, word, rank))
        elif isinstance(value, str) and not word.modes:
            raise RequestError(
                f"{word.name} is {value!r}, but this layer knows no padding by name: give "
                f"{', or '.join(word.layouts)}"
            )
        elif isinstance(value, str) or not word.layouts:
            modes = (values.chosen(value, word.name, word.modes),) * rank
        else:
            pads = tuple(Given(pair) for pair in values.pads(value, word, rank))
    _only_one(layer, modes, pads)
    return modes, pads


def _only_one(layer: Layer, modes: tuple[Mode, ...], pads: tuple[Given, ...]) -> None:
    """Numbers that a mode would not look at are a contradiction, except zeros."""
    for mode, numbers in zip(modes, pads, strict=True):
        if mode is not layer.number and not mode.takes_numbers and any(numbers.pads or (0,)):
            raise RequestError(
                f"explicit padding {list(numbers.pads or ())} and a padding mode: give one of them"
            )


def _choice(layer: Layer, given: Mapping[str, object], role: Role, default: Choice) -> Choice:
    """What the word of a role chooses."""
    for word in layer.of(role):
        if given[word.name] is not None or None in word.choices:
            found = values.chosen(given[word.name], word.name, word.choices)
            if not isinstance(found, type(default)):
                raise RequestError(f"{word.name}={given[word.name]!r}: {found}")
            return found
    return default


def _one(layer: Layer, given: Mapping[str, object], role: Role) -> int | None:
    told = ((given[word.name], word.name) for word in layer.of(role))
    return next((values.whole(one, name, 1) for one, name in told if one is not None), None)


def _takes(word: Word) -> str:
    named = [repr(name) for name in (*word.modes, *word.choices)]
    return f": it is one of {', '.join(named)}" if named else ""


def _where_kernel(layer: Layer) -> str:
    own = [word.name for word in layer.of(Role.KERNEL)]
    return " and ".join(own) if own else "weight_shape, its kernel last"


InAndOut = tuple[int | None, int | None]


def read_weight(
    weight_shape: Sequence[object] | None, rank: int, layer: Layer
) -> tuple[InAndOut, tuple[int, ...]] | None:
    """The first two sizes of a weight (ONNX layout) and its kernel."""
    if weight_shape is None:
        return None
    if layer.op in {"max_pool", "avg_pool"}:
        raise RequestError("a pool has no weight: leave weight_shape out")
    found = values.items(weight_shape) if values.is_list(weight_shape) else []
    if len(found) != rank + 2:
        raise RequestError(
            f"weight_shape is {weight_shape!r}, but must have {rank + 2} sizes like input_shape"
        )
    known = [None if size is None else _size(size) for size in found[:2]]
    return (known[0], known[1]), tuple(_size(size) for size in found[2:])


def _size(value: object) -> int:
    return values.whole(value, "a size of weight_shape", 1)


def groups_of(
    op: str, layer: Layer, wish: Wish, inputs: int, weight: InAndOut
) -> tuple[int, int | None]:
    """(groups, channels of the output), checked against the weight's shape."""
    if layer.op in {"max_pool", "avg_pool"}:
        return 1, inputs
    first, second = weight
    group = wish.groups or (inputs if op == "depthwise_conv" else 0)
    if layer.op == "conv_transpose":
        group = group or 1
        reads, makes = first, None if second is None else second * group
    else:
        group = group or (inputs // second if second and inputs % second == 0 else 1)
        reads, makes = None if second is None else second * group, first
    if reads not in {None, inputs} or inputs % group or (makes or 0) % group:
        raise RequestError(
            f"{counted(inputs, 'channel')} of the input in {counted(group, 'group')} do not fit a "
            f"weight of {['?' if size is None else size for size in weight]} and the kernel"
        )
    return group, makes


class WorkedOut(NamedTuple):
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
) -> WorkedOut:
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
    return WorkedOut(
        op="conv" if layer.op == "depthwise_conv" else layer.op,
        slides=slides_of(layer.op, wish._replace(divisor=divisor), shape[2:], layer.checks),
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
    return tuple(slide._replace(counted=_counted(wish.divisor, slide)) for slide in slides)


def _slides(op: str, wish: Wish, sizes: Sequence[int]) -> tuple[Slide, ...]:
    undilated = any(mode.undilated for mode in wish.modes)
    dilations = (1,) * len(sizes) if undilated else wish.dilations
    rows = zip(sizes, wish.kernel, wish.strides, dilations, strict=True)
    axes = [Axis(*row) for row in rows]
    if op == "conv_transpose":
        return tuple(_cut(wish, axis, index) for index, axis in enumerate(axes))
    pads = []
    for axis, mode, given in zip(axes, wish.modes, wish.given, strict=True):
        pads.append(mode.pad_rule(axis, given) if mode.pad_rule else given.pads or (0, 0))
    any_padded = any(any(pair) for pair in pads)
    found = []
    for size, axis, pair in zip(sizes, axes, pads, strict=True):
        count = windows(axis, pair, wish.rounding, any_padded=any_padded)
        found.append(Slide(size, axis.kernel, axis.stride, axis.dilation, *pair, count))
    return tuple(found)


def _cut(wish: Wish, axis: Axis, index: int) -> Slide:
    cut, size = wish.modes[index].cut, axis.size
    if cut is None or not isinstance(size, int):
        raise RequestError("this padding has no rule for transposed layers")
    crop = cut(axis, size, wish.given[index])
    full = (size - 1) * axis.stride + axis.span
    if crop.output < 1 or crop.begin >= full or crop.begin + crop.output <= 0:
        raise RequestError(
            f"nothing is left of axis {index + 2}: {counted(size, 'cell')}, kernel "
            f"{axis.kernel}, stride {axis.stride} make {full}, of which "
            f"{crop.output} from {crop.begin} on are kept"
        )
    end = full - crop.begin - crop.output
    return Slide(size, axis.kernel, axis.stride, axis.dilation, crop.begin, end, crop.output)


def windows(axis: Axis, pads: Pair, rounding: Rounding, *, any_padded: bool) -> int:
    """How many windows a layer has; `any_padded` tells of all its axes. RequestError for none."""
    (begin, end), size = pads, axis.size if isinstance(axis.size, int) else 0
    room = size + begin + end - axis.span
    if rounding is Rounding.EXACT and room >= 0 and room % axis.stride:
        raise RequestError(
            f"windows of stride {axis.stride} do not end at the border: {room % axis.stride} of "
            f"{counted(size, 'cell')} with padding {begin} and {end} would be left over"
        )
    keeps = {
        Rounding.UP_ALL: True,
        Rounding.UP_IF_ANY_PADDED: not any_padded,
        Rounding.UP_IF_AXIS_PADDED: not any(pads),
    }
    up = rounding not in {Rounding.DOWN, Rounding.EXACT}
    count = output_size(axis, begin, end, ceil_mode=up)
    if keeps.get(rounding):
        count = -(-room // axis.stride) + 1
    if rounding is Rounding.UP_FROM_ONE and isinstance(count, int):
        count = max(count, 1)
    if not isinstance(count, int) or count < 1:
        raise RequestError(
            f"a window of {counted(axis.span, 'cell')} does not fit: the input has {size} on "
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
                f"{fill} padding of {counted(max(slide.begin, slide.end), 'cell')} needs more "
                f"than the {slide.size} of the input"
            )
