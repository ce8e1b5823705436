"""resolve: a framework's layer in its own words, as pads, sizes, divisors and ONNX nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.lowering import lower
from onnxpad.frameworks.planning import Plan, make_plan
from onnxpad.frameworks.words import Evidence, Layer
from onnxpad.padding.expansion import Step
from onnxpad.reports import Report, reported
from onnxpad.resolving.finding import find_convention, find_layer, find_op
from onnxpad.resolving.records import plain_attribute, step_record

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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
        from onnxpad.resolving.weights import checked_bias, checked_weight

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
