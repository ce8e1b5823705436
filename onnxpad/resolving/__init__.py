"""resolve: a framework's layer in its own words, as pads, sizes, divisors and ONNX nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.choices import HowKnown, Role, Special
from onnxpad.frameworks.conventions import find_convention, find_layer, find_op
from onnxpad.frameworks.layer import Layer, Word
from onnxpad.frameworks.steps import spatial_pads, takes_bias, value_of_pad, values_of
from onnxpad.frameworks.to_onnx import lower
from onnxpad.frameworks.worked_out import WorkedOut, make_plan
from onnxpad.padding.expansion import Step
from onnxpad.reports import Report, reported
from onnxpad.runtimes.onnxruntime.runtime_check import kept_apart
from onnxpad.verbs import verb

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
@dataclass(frozen=True, repr=False)
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
    plan: WorkedOut
    evidence: HowKnown
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
            return kept_apart(lower(self.plan))
        except RequestError as error:
            name = f"{self.framework} {self.op}"
            raise RequestError(f"{name} has no ONNX form: {error!s}") from None

    def to_model(self, weight: ArrayLike | None = None, bias: ArrayLike | None = None) -> Model:
        """A model of this layer that runs: input `x`, output `y`, opset 22.

        `weight` is in ONNX layout: (M, C/group, kernel) for convolutions, (C, M/group, kernel)
        for transposed ones; without `bias` none is added. RequestError for a convolution without
        a weight, for shapes that do not fit, and where ONNX cannot say the layer.
        """
        name, is_pool = f"{self.framework} {self.op}", self.plan.is_pool
        for what, given in (("weight", weight), ("bias", bias)):
            if is_pool and given is not None:
                raise RequestError(f"{name}: a pool has no {what}")
        expected = self.weight_shape or (None, None, *(one.kernel for one in self.plan.slides))
        if weight is None and not is_pool:
            raise RequestError(
                f"{name}: a convolution needs its weight: to_model(weight=...), of shape "
                f"{_shape_text(expected)}"
            )
        array = _array(f"{name}: the weight", weight, expected)
        whole = self
        if array is not None:  # its channels say the groups
            whole = resolve(
                self.framework,
                self.op,
                input_shape=self.input_shape,
                weight_shape=array.shape,
                **self.attributes,
            )
        vector = _array(f"{name}: the bias", bias, (whole.plan.channels,))
        from onnxpad.model.small_models import layer_model

        return layer_model(whole.steps, self.input_shape, weight=array, bias=vector)

    @property
    def given(self) -> dict[str, object]:
        """The attributes as plain data."""
        return {name: _plain(value) for name, value in self.attributes.items()}

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


def step_record(step: Step) -> dict[str, Any]:
    """One ONNX node as plain data."""
    match step.op_type:
        case "Pad":
            mode, pads = dict(step.attributes)["mode"], list(spatial_pads(step).flat)
            more = {"value": value_of_pad(step)} if mode == "constant" else {}
            return {"op": "Pad", "mode": mode, "pads": pads, **more}
        case "Slice":
            starts, ends = values_of(step, "starts"), values_of(step, "ends")
            return {"op": "Slice", "starts": list(starts), "ends": list(ends)}
        case "Mul":
            return {"op": "Mul", "factor": values_of(step, "factor")[0]}
        case "Add":
            return {"op": "Add", "adds": "bias"}
        case op:
            return {"op": op, **dict(step.attributes), "takes_bias": takes_bias(step)}


def _plain(value: object) -> object:
    """A value of an attribute as JSON can hold it."""
    if value is None or isinstance(value, bool | str | float):
        return value
    if values.is_list(value):
        return [_plain(item) for item in values.items(value)]
    try:
        return index(value)  # type: ignore[arg-type] # it raises TypeError for what has none
    except TypeError:
        return str(value)


def _array(name: str, given: ArrayLike | None, shape: Sequence[int | None]) -> NDArray[Any] | None:
    """The array that is given; RequestError where it is of another shape."""
    if given is None:
        return None
    import numpy as np  # asked for when a model is made, and slow to load

    array = np.asarray(given)
    if len(array.shape) != len(shape) or any(
        want not in {None, size} for want, size in zip(shape, array.shape, strict=True)
    ):
        raise RequestError(f"{name} is {list(array.shape)}, but must be {_shape_text(shape)}")
    return array


def _shape_text(shape: Sequence[int | None]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


@verb()
def resolve(
    framework: str,
    op: str,
    *,
    input_shape: Sequence[int] | None = None,
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
    if input_shape is None:
        raise RequestError(f"{name}: input_shape is missing: give (batch, channels, sizes)")
    if rank is not None and values.is_list(input_shape) and len(input_shape) != rank + 2:
        raise RequestError(
            f"{name}: '{op}' has {rank} spatial axes, input_shape {list(input_shape)} has "
            f"{len(input_shape) - 2}"
        )
    try:
        plan = make_plan(layer, kind, input_shape, weight_shape, attributes)
    except RequestError as error:
        raise RequestError(f"{name}: {error!s}") from None
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


def resolve_general(  # noqa: PLR0913 - a layer in two vocabularies
    framework: str,
    op: str,
    *,
    input_shape: Sequence[int],
    weight_shape: Sequence[int | None] | None,
    general: Mapping[Role, object],
    attributes: Mapping[str, object],
    wins: bool = False,
) -> Resolution:
    """Like `resolve`, with some attributes given by their role, whatever the framework's name.

    `general` holds values by role, `attributes` by the framework's names. A kernel for which the
    framework has no attribute becomes the weight's. Raises RequestError if another role has no
    attribute, or if `attributes` state a role again (unless that `wins`).
    """
    convention = find_convention(framework)
    layer = find_layer(convention, find_op(op)[0])
    rank = len(input_shape) - 2
    own: dict[str, object] = {}
    for role, value in general.items():
        words = _words_for(layer, role, value)
        parts = values.items(value) if values.is_list(value) else [value] * rank
        if not words and role is Role.KERNEL:
            kernel = [values.whole(part, "the kernel", 1) for part in parts]
            weight_shape = weight_shape or (None, None, *kernel)
            continue
        if not words:
            named = [word.name for word in layer.words if word.default is not Special.REQUIRED]
            raise RequestError(
                f"{convention.name} {layer.op} has no {role}; it has {', '.join(named)}"
            )
        per_axis = (word for word in layer.of(role) if word.axis is not None)
        same = (name for word in (*words, *per_axis) for name in word.names)
        twice = next((name for name in same if name in attributes), "")
        if twice and not wins:
            raise RequestError(
                f"{convention.name} {layer.op}: the {role} is given twice, as --{role} {value} "
                f"and as {twice}={attributes[twice]}: give one"
            )
        if not twice and words[0].axis is None:
            own[words[0].name] = value
        elif not twice:
            own |= {word.name: part for word, part in zip(words, parts, strict=False)}
    return resolve(
        framework,
        op,
        input_shape=input_shape,
        weight_shape=weight_shape,
        **(own | dict(attributes)),
    )


def _words_for(layer: Layer, role: Role, value: object) -> list[Word]:
    """The words that take such a value: one for all axes, else those for single axes."""
    named = isinstance(value, str)
    found = layer.of(role)
    if role is Role.PADDING:
        fitting = [word for word in found if bool(word.modes if named else word.layouts)]
        found = fitting or found
    plain = [word for word in found if word.axis is None]
    return plain[:1] or found
