"""resolve: a framework's layer in its own words, as pads, sizes, divisors and ONNX nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.conventions import Convention, all_conventions
from onnxpad.frameworks.layer import Evidence, Layer, Role, Slide, Special, Word
from onnxpad.frameworks.steps import numbers, pad_value, spatial_pads, takes_bias
from onnxpad.frameworks.to_onnx import lower
from onnxpad.frameworks.worked_out import Plan, make_plan
from onnxpad.padding.expansion import Step
from onnxpad.reports import Report, reported

OPS = ("conv", "depthwise_conv", "grouped_conv", "max_pool", "avg_pool", "conv_transpose")
_OP_ALIASES = {
    "convolution": "conv",
    "depthwise": "depthwise_conv",
    "depthwise_convolution": "depthwise_conv",
    "grouped": "grouped_conv",
    "group_conv": "grouped_conv",
    "maxpool": "max_pool",
    "max_pooling": "max_pool",
    "maxpooling": "max_pool",
    "avgpool": "avg_pool",
    "average_pool": "avg_pool",
    "averagepool": "avg_pool",
    "average_pooling": "avg_pool",
    "averagepooling": "avg_pool",
    "avg_pooling": "avg_pool",
    "convtranspose": "conv_transpose",
    "transposed_conv": "conv_transpose",
    "transpose_conv": "conv_transpose",
    "deconv": "conv_transpose",
    "deconvolution": "conv_transpose",
}


def find_convention(framework: str) -> Convention:
    """A framework by its name or alias; capitals, '_' and ' ' do not matter."""
    there = all_conventions()
    names = dict(there)
    for item in there.values():
        names |= dict.fromkeys(item.aliases, item)
    key = re.sub(r"[\s_]+", "-", str(framework).strip().casefold())
    if key in names:
        return names[key]
    raise RequestError(f"no framework is called {framework!r}{values.hint(key, there)}")


def find_op(op: str) -> tuple[str, int | None]:
    """(operator, rank) of a name such as conv, Conv2D, MaxPool2d; no rank without a digit."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(op).strip()).casefold()
    key = re.sub(r"[\s_-]+", "_", word)
    digit = re.search(r"([123])_?d", key)
    key = re.sub(r"_?[123]_?d", "", key)
    found = _OP_ALIASES.get(key, key)
    if found not in OPS:
        raise RequestError(f"no operator is called {op!r}{values.hint(key, dict.fromkeys(OPS))}")
    return found, int(digit[1]) if digit else None


def find_layer(convention: Convention, op: str) -> Layer:
    """The framework's layer for an operator; grouped and depthwise ones may be its conv."""
    for layer in convention.layers:
        if layer.op == op:
            return layer
    for layer in convention.layers:
        if layer.op == "conv" and op in {"depthwise_conv", "grouped_conv"}:
            return layer
    known = ", ".join(layer.op for layer in convention.layers)
    raise RequestError(f"{convention.name}: nothing is known of its {op}, only of {known}")


def step_record(step: Step) -> dict[str, Any]:
    """One ONNX node as plain data."""
    match step.op_type:
        case "Pad":
            mode, pads = dict(step.attributes)["mode"], list(spatial_pads(step).flat)
            more = {"value": pad_value(step)} if mode == "constant" else {}
            return {"op": "Pad", "mode": mode, "pads": pads, **more}
        case "Slice":
            starts, ends = numbers(step, "starts"), numbers(step, "ends")
            return {"op": "Slice", "starts": list(starts), "ends": list(ends)}
        case "Mul":
            return {"op": "Mul", "factor": numbers(step, "factor")[0]}
        case "Add":
            return {"op": "Add", "adds": "bias"}
        case op:
            return {"op": op, **dict(step.attributes), "takes_bias": takes_bias(step)}


def step_text(step: Step) -> str:
    """One ONNX node as people write it, without what is 1 or 0 anyway."""
    record = step_record(step)
    op = record.pop("op")
    match op:
        case "Mul":
            return f"Mul({record['factor']:g})"
        case "Add":
            return "Add(bias)"
        case "Pad":
            shown = [f"mode={record['mode']!r}", f"pads={record['pads']}"]
            value = record.get("value", 0.0)
            return f"Pad({', '.join(shown + [f'value={value:g}'] * bool(value))})"
    plain_values = {"strides": {1}, "dilations": {1}}
    shown = [
        f"{name}={list(value) if isinstance(value, tuple) else value}"
        for name, value in record.items()
        if name != "takes_bias"
        and not (name in plain_values and set(value) == plain_values[name])
        and not (name == "group" and value == 1)
    ]
    return f"{op}({', '.join(shown)})"


def plain_attribute(value: object) -> object:
    """A value of an attribute as JSON can hold it."""
    if value is None or isinstance(value, bool | str | float):
        return value
    if values.is_list(value):
        return [plain_attribute(item) for item in values.items(value)]
    try:
        return index(value)  # type: ignore[arg-type] # it raises TypeError for what has none
    except TypeError:
        return str(value)


if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from onnxpad.model.opened import Model


@reported(
    "framework",
    "op",
    "input_shape",
    "weight_shape",
    "given as attributes",
    "output_shape",
    "pads",
    "plan.is_transposed as transposed",
    "plan.slides as axes",
    "divisor",
    "fill",
    "plan.group as group",
    "nodes",
    "reason",
    "evidence",
    "source",
)
@dataclass(frozen=True)
class Resolution(Report):
    """What a layer does: `plan` holds one slide for each axis, `steps` the ONNX nodes.

    Shapes are in ONNX layout (batch, channels, axes); a channel of `output_shape` is None where
    no weight says it. `evidence` tells how the framework's rule is known, `source` from where.
    """

    framework: str
    op: str
    input_shape: tuple[int, ...]
    weight_shape: tuple[int | None, ...] | None
    attributes: Mapping[str, object]
    plan: Plan
    evidence: Evidence
    source: str
    layer: Layer = field(repr=False)

    schema = 1

    @property
    def output_shape(self) -> tuple[int | None, ...]:
        """Batch, channels and sizes of the result."""
        sizes = (slide.output for slide in self.plan.slides)
        return (self.input_shape[0], self.plan.channels, *sizes)

    @property
    def pads(self) -> tuple[int, ...]:
        """Cells that the framework pads (transposed layers: crops): every begin, then every end."""
        slides = self.plan.slides
        return (*(slide.begin for slide in slides), *(slide.end for slide in slides))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The ONNX nodes in order. RequestError where no chain of nodes gives the same numbers."""
        try:
            return lower(self.plan)
        except RequestError as error:
            raise RequestError(f"{self.framework} {self.op} has no ONNX form: {error}") from None

    def to_model(self, weight: ArrayLike | None = None, bias: ArrayLike | None = None) -> Model:
        """A model of this layer that runs: input `x`, output `y`, opset 22.

        `weight` is in ONNX layout: (M, C/group, kernel) for convolutions, (C, M/group, kernel)
        for transposed ones; without `bias` none is added. RequestError for a convolution without
        a weight, for shapes that do not fit, and where ONNX cannot say the layer.
        """
        name = f"{self.framework} {self.op}"
        kernel = tuple(slide.kernel for slide in self.plan.slides)
        array = checked_weight(name, self.weight_shape, kernel, weight, is_pool=self.plan.is_pool)
        whole = self if array is None else self._with_weight(array.shape)
        from onnxpad.model.building import build_model

        vector = checked_bias(name, whole.plan.channels, bias, is_pool=self.plan.is_pool)
        return build_model(whole.steps, self.input_shape, weight=array, bias=vector)

    def _with_weight(self, shape: tuple[int, ...]) -> Resolution:
        """The same layer once the weight's channels are known; they say the groups."""
        return resolve(
            self.framework,
            self.op,
            input_shape=self.input_shape,
            weight_shape=shape,
            **self.attributes,
        )

    @property
    def given(self) -> dict[str, object]:
        """The attributes as plain data."""
        return {name: plain_attribute(value) for name, value in self.attributes.items()}

    @property
    def divisor(self) -> str | None:
        """What an average divides by; None for other layers."""
        if self.op != "avg_pool":
            return None
        if self.plan.override is None:
            return str(self.plan.divisor)
        return f"{self.plan.override}: it {self.layer.override}"

    @property
    def fill(self) -> str | None:
        """What padded cells hold; None for pools."""
        return None if self.plan.is_pool else str(self.plan.fill)

    @property
    def nodes(self) -> list[dict[str, Any]] | None:
        """The ONNX nodes as plain data; None where ONNX cannot say it, with `reason`."""
        return None if self.reason else [step_record(step) for step in self.steps]

    @property
    def reason(self) -> str:
        """Why no chain of ONNX nodes gives the same numbers."""
        try:
            self.steps  # noqa: B018 - worked out when first asked for
        except RequestError as error:
            return str(error)
        return ""


def resolve(
    framework: str,
    op: str,
    *,
    input_shape: Sequence[int],
    weight_shape: Sequence[int | None] | None = None,
    **attributes: object,
) -> Resolution:
    """Work out one layer of a framework, given in the framework's own attributes.

    Shapes are in ONNX layout: input (N, C, axes), weight (M, C/group, kernel) or for transposed
    layers (C, M/group, kernel), whose channels may be None. A missing attribute is the
    framework's default. RequestError for unknown names (with the nearest), wrong values, and
    layers that the framework itself refuses.
    """
    convention = find_convention(framework)
    kind, rank = find_op(op)
    layer = find_layer(convention, kind)
    name = f"{convention.name} {kind}"
    if rank is not None and values.is_list(input_shape) and len(input_shape) != rank + 2:
        raise RequestError(
            f"{name}: '{op}' has {rank} spatial axes, input_shape {list(input_shape)} has "
            f"{len(input_shape) - 2}"
        )
    try:
        plan = make_plan(layer, kind, input_shape, weight_shape, attributes)
    except RequestError as error:
        raise RequestError(f"{name}: {error}") from None
    return Resolution(
        framework=convention.name,
        op=kind,
        input_shape=tuple(int(size) for size in input_shape),
        weight_shape=None if weight_shape is None else tuple(weight_shape),
        attributes=dict(attributes),
        plan=plan,
        evidence=layer.evidence,
        source=layer.source,
        layer=layer,
    )


def resolve_general(
    framework: str,
    op: str,
    *,
    input_shape: Sequence[int],
    weight_shape: Sequence[int | None] | None,
    general: Mapping[Role, object],
    attributes: Mapping[str, object],
) -> Resolution:
    """Like `resolve`, with some attributes given by what they mean.

    `general` holds values by role; `attributes`, in the framework's own names, win over them.
    A kernel without a word of its own becomes the weight's. RequestError where the framework
    has no such attribute.
    """
    convention = find_convention(framework)
    layer = find_layer(convention, find_op(op)[0])
    rank = len(input_shape) - 2
    own: dict[str, object] = {}
    for role, value in general.items():
        words = _words(layer, role, value)
        if role is Role.KERNEL and not words:
            weight_shape = weight_shape or (None, None, *_kernel(value, rank))
            continue
        if not words:
            raise RequestError(f"{convention.name} {layer.op} has no {role}{_there(layer)}")
        if not _also_given(layer, words, attributes):
            own |= _split(words, value, rank)
    return resolve(
        framework,
        op,
        input_shape=input_shape,
        weight_shape=weight_shape,
        **(own | dict(attributes)),
    )


def _kernel(value: object, rank: int) -> tuple[int, ...]:
    parts = values.items(value) if values.is_list(value) else [value] * rank
    return tuple(values.whole(part, "the kernel", 1) for part in parts)


def _words(layer: Layer, role: Role, value: object) -> list[Word]:
    """The words that take such a value: one for all axes, else those for single axes."""
    named = isinstance(value, str)
    found = [word for word in layer.words if word.role is role]
    if role is Role.PADDING:
        fitting = [word for word in found if bool(word.modes if named else word.layouts)]
        found = fitting or found
    plain = [word for word in found if word.axis is None]
    return plain[:1] or found


def refuse_doubles(
    framework: str, op: str, general: Mapping[Role, object], attributes: Mapping[str, object]
) -> None:
    """RequestError where `attributes` say again what `general` says."""
    convention = find_convention(framework)
    layer = find_layer(convention, find_op(op)[0])
    for role, value in general.items():
        words = _words(layer, role, value)
        if words and (twice := _also_given(layer, words, attributes)):
            raise RequestError(
                f"{convention.name} {layer.op}: the {role} is given twice, as --{role} {value} and "
                f"as {twice}={attributes[twice]}: give one"
            )


def _also_given(layer: Layer, words: Sequence[Word], attributes: Mapping[str, object]) -> str:
    """An attribute that says what `words` say, or one axis of it; '' for none."""
    role = words[0].role
    same = [*words, *(word for word in layer.words if word.role is role and word.axis is not None)]
    return next((name for word in same for name in word.names if name in attributes), "")


def _split(words: Sequence[Word], value: object, rank: int) -> dict[str, object]:
    if words[0].axis is None:
        return {words[0].name: value}
    parts = values.items(value) if values.is_list(value) else [value] * rank
    return {word.name: part for word, part in zip(words, parts, strict=False)}


def _there(layer: Layer) -> str:
    named = [word.name for word in layer.words if word.default is not Special.REQUIRED]
    return f"; it has {', '.join(named)}"


def checked_weight(
    name: str,
    shape: Sequence[int | None] | None,
    kernel: Sequence[int],
    weight: ArrayLike | None,
    *,
    is_pool: bool,
) -> NDArray[Any] | None:
    """The weight as an array; RequestError where it is missing, not wanted or of another shape."""
    if is_pool:
        if weight is not None:
            raise RequestError(f"{name}: a pool has no weight")
        return None
    expected = tuple(shape) if shape is not None else (None, None, *kernel)
    shown = ", ".join("?" if size is None else str(size) for size in expected)
    if weight is None:
        raise RequestError(
            f"{name}: a convolution needs its weight: to_model(weight=...), of shape [{shown}]"
        )
    import numpy as np  # asked for when a model is made, and slow to load

    array = np.asarray(weight)
    fits = len(array.shape) == len(expected) and all(
        want in {None, size} for want, size in zip(expected, array.shape, strict=True)
    )
    if not fits:
        raise RequestError(f"{name}: the weight is {list(array.shape)}, but must be [{shown}]")
    return array


def checked_bias(
    name: str, channels: int | None, bias: ArrayLike | None, *, is_pool: bool
) -> NDArray[Any] | None:
    """The bias as a vector, one number for each output channel."""
    if bias is None:
        return None
    if is_pool:
        raise RequestError(f"{name}: a pool has no bias")
    import numpy as np

    array = np.asarray(bias)
    if array.shape != (channels,):
        raise RequestError(f"{name}: the bias is {list(array.shape)}, but must be [{channels}]")
    return array


_MOST = 1_000_000


@reported("starts as first_windows_start", "outputs", "ranges as differing")
@dataclass(frozen=True, slots=True)
class AxisDifference:
    """One axis: where the first windows start, how many there are, and which of them differ.

    `ranges` are (first, last) positions of the output at which the two differ on this axis.
    """

    starts: tuple[int, int]
    outputs: tuple[int, int]
    ranges: tuple[tuple[int, int], ...]


@reported(
    "first", "second", "same_size", "cells as differing_cells", "total as shared_cells", "axes"
)
@dataclass(frozen=True, slots=True)
class Difference(Report):
    """`cells` of the `total` cells of one channel differ, over the part that both outputs have."""

    first: Resolution
    second: Resolution
    axes: tuple[AxisDifference, ...]
    cells: int
    total: int

    schema = 1

    @property
    def same_size(self) -> bool:
        """Whether both outputs have the same size."""
        return all(one == other for one, other in (axis.outputs for axis in self.axes))

    @property
    def is_none(self) -> bool:
        """Whether both layers are the same for every input."""
        return self.same_size and self.cells == 0


def compare(first: Resolution, second: Resolution) -> Difference:
    """Which cells differ for some input; RequestError for layers that cannot be compared."""
    one, other = first.plan, second.plan
    if one.op != other.op or first.input_shape != second.input_shape:
        raise RequestError(
            f"{first.framework} {first.op} over {list(first.input_shape)} and {second.framework} "
            f"{second.op} over {list(second.input_shape)} are different layers: compare the same "
            "operator over the same input"
        )
    tables = [_Axis(first, second, *pair) for pair in zip(one.slides, other.slides, strict=True)]
    cells = 0
    for keys in product(*(table.counts.items() for table in tables)):
        number = prod(times for _, times in keys)
        divides = [prod(key[1][side] for key, _ in keys) for side in (0, 1)]
        scaled = one.scale * divides[1] != other.scale * divides[0]
        cells += number if scaled or any(key[0] for key, _ in keys) else 0
    return Difference(
        first,
        second,
        tuple(table.difference for table in tables),
        cells,
        prod(sum(table.counts.values()) for table in tables),
    )


class _Axis:
    """Windows of one axis that both layers have, sorted by whether and how they differ."""

    def __init__(self, first: Resolution, second: Resolution, one: Slide, other: Slide) -> None:
        self._plans = (first.plan, second.plan)
        self._slides = (one, other)
        self._shared = min(one.output, other.output)
        window = (one.begin, one.kernel, one.dilation)
        moved = one.stride != other.stride
        transposed = first.plan.is_transposed
        self._all = window != (other.begin, other.kernel, other.dilation) or (moved and transposed)
        self._moved = moved and not self._all
        self.counts: Counter[tuple[bool, tuple[int, int]]] = Counter()
        places = []
        for place, key in () if self._all or transposed else self._odd():
            self.counts[key] += 1
            if key[0] or key[1][0] != key[1][1]:
                places.append(place)
        rest = self._shared - self.counts.total()
        cells = (one.kernel, other.kernel) if first.op == "avg_pool" else (1, 1)
        if rest:
            self.counts[moved or self._all, cells] += rest
        plain = [(int(self._moved), self._shared - 1)] if rest and (moved or self._all) else []
        ranges = [*_ranges(places), *plain]
        most = max(one.output, other.output)
        if most > self._shared:
            ranges = list(_joined(ranges, (self._shared, most - 1)))
        sign = 1 if transposed else -1
        self.difference = AxisDifference(
            (sign * one.begin, sign * other.begin), (one.output, other.output), tuple(ranges)
        )

    def _odd(self) -> Iterator[tuple[int, tuple[bool, tuple[int, int]]]]:
        """Windows that reach over a border; with different strides the first, which both share."""
        one = self._slides[0]
        if self._moved:
            yield 0, self._key(0)
            return
        before = min(self._shared, max(0, -(-one.begin // one.stride)))
        inside = one.size - one.span + one.begin
        after = max(before, min(self._shared, inside // one.stride + 1))
        if before + self._shared - after > _MOST:
            raise RequestError("more windows reach over the border than can be compared")
        for place in (*range(before), *range(after, self._shared)):
            yield place, self._key(place)

    def _key(self, place: int) -> tuple[bool, tuple[int, int]]:
        one, other = self._plans
        start = place * self._slides[0].stride - self._slides[0].begin
        if one.op == "conv":
            return one.fill is not other.fill, (1, 1)
        empty = _cells(self._slides[0], start, 0, 0) == 0
        odd = empty and one.outside is not other.outside
        if one.op == "max_pool":
            return odd, (1, 1)
        mine, theirs = (_cells(slide, start, *slide.counted) for slide in self._slides)
        return odd and 0 in {mine, theirs}, (max(mine, 1), max(theirs, 1))


def _cells(slide: Slide, start: int, before: int, after: int) -> int:
    """Cells of a window that lie in the input or in `before` and `after` cells around it."""
    low, high = -before - start, slide.size + after - start
    first = max(0, -(-low // slide.dilation))
    last = min(slide.kernel, -(-high // slide.dilation))
    return max(0, last - first)


def _ranges(places: list[int]) -> Iterator[tuple[int, int]]:
    begin = last = None
    for place in places:
        if begin is None or last is None or place != last + 1:
            if begin is not None and last is not None:
                yield begin, last
            begin = place
        last = place
    if begin is not None and last is not None:
        yield begin, last


def _joined(ranges: list[tuple[int, int]], more: tuple[int, int]) -> Iterator[tuple[int, int]]:
    if ranges and ranges[-1][1] + 1 == more[0]:
        yield from ranges[:-1]
        yield ranges[-1][0], more[1]
    else:
        yield from ranges
        yield more
