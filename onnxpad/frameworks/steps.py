"""Steps of an expansion that compute a layer from its input, weight and (if any) bias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnxpad.frameworks.layer import Slide
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Pads
from onnxpad.padding.expansion import Made, Numbers, Operand, Read, Reshaped, Step
from onnxpad.padding.operators import AttributeValue

DATA, WEIGHT, BIAS = Read(0), Read(1), Read(2)
_REAL = "float32"


def in_a_row(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps, each reading what the one before makes."""
    return tuple(
        step._replace(inputs=(Made(number - 1), *step.inputs[1:])) if number else step
        for number, step in enumerate(steps)
    )


def cut(starts: tuple[int, ...], ends: tuple[int, ...]) -> Step:
    """A Slice that keeps the cells from `starts` up to `ends` of each spatial axis."""
    axes = tuple(range(2, 2 + len(starts)))
    parts = [Numbers("starts", "int64", (len(starts),), starts)]
    parts += [Numbers("ends", "int64", (len(ends),), ends)]
    parts += [Numbers("axes", "int64", (len(axes),), axes)]
    return Step("slice", "Slice", (DATA, *parts))


def pad(pads: Pads, mode: str = "constant", value: float = 0.0) -> Step:
    """A Pad over the spatial axes; `value` is what mode constant writes."""
    flat = (0, 0, *pads.begins, 0, 0, *pads.ends)
    inputs: tuple[Operand, ...] = (DATA, Numbers("pads", "int64", (len(flat),), flat))
    if mode == "constant":
        inputs += (Numbers("value", _REAL, (), (value,)),)
    return Step("pad", "Pad", inputs, (("mode", str(mode)),))


def multiply(factor: float) -> Step:
    """A Mul by a number."""
    return Step("mul", "Mul", (DATA, Numbers("factor", _REAL, (), (factor,))))


def add_bias(rank: int) -> Step:
    """An Add of the bias that the convolution before did not add."""
    return Step("add", "Add", (DATA, Reshaped(BIAS, (1, -1, *(1,) * rank))))


@dataclass(frozen=True, slots=True)
class Window:
    """What a Conv, ConvTranspose, MaxPool or AveragePool with explicit pads does.

    `takes_bias` is off where the bias is added by a later step.
    """

    op: str
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Pads
    group: int = 1
    output_padding: tuple[int, ...] = ()
    ceil_mode: bool = False
    count_include_pad: bool = False
    takes_bias: bool = True

    @classmethod
    def over(cls, op: str, slides: Sequence[Slide], pads: Pads) -> Window:
        """The windows of a layer that is worked out, with `pads`."""
        kernel = tuple(slide.kernel for slide in slides)
        strides = tuple(slide.stride for slide in slides)
        return cls(op, kernel, strides, tuple(slide.dilation for slide in slides), pads)

    @classmethod
    def of(cls, step: Step) -> Window:
        """What a step of windows does."""
        found = dict(step.attributes)
        kernel = _listed(found, "kernel_shape")
        group = found.get("group", 1)
        flat = _listed(found, "pads") or (0,) * 2 * len(kernel)
        return cls(
            step.op_type,
            kernel,
            _listed(found, "strides"),
            _listed(found, "dilations"),
            Pads(flat[: len(kernel)], flat[len(kernel) :]),
            group if isinstance(group, int) else 1,
            _listed(found, "output_padding"),
            ceil_mode=found.get("ceil_mode") == 1,
            count_include_pad=found.get("count_include_pad") == 1,
            takes_bias=takes_bias(step),
        )

    def axes(self, sizes: Sequence[int]) -> list[Axis]:
        """What the windows slide over, where the input has these sizes."""
        rows = zip(sizes, self.kernel, self.strides, self.dilations, strict=True)
        return [Axis(*row) for row in rows]

    @property
    def step(self) -> Step:
        """The node."""
        found: dict[str, AttributeValue] = {
            "kernel_shape": self.kernel,
            "strides": self.strides,
            "dilations": self.dilations,
            "pads": self.pads.flat,
        }
        if self.op.startswith("Conv"):
            found["group"] = self.group
        if any(self.output_padding):
            found["output_padding"] = self.output_padding
        found |= {"ceil_mode": 1} if self.ceil_mode else {}
        found |= {"count_include_pad": 1} if self.count_include_pad else {}
        weights = (WEIGHT,) + (BIAS,) * self.takes_bias if self.op.startswith("Conv") else ()
        return Step(self.op.lower(), self.op, (DATA, *weights), tuple(found.items()))


def takes_bias(step: Step) -> bool:
    """Whether no later step adds a bias."""
    return WEIGHT not in step.inputs or BIAS in step.inputs


def spatial_pads(step: Step) -> Pads:
    """The pads of a Pad over the spatial axes."""
    flat = [int(number) for number in values_of(step, "pads")]
    half = len(flat) // 2
    return Pads(tuple(flat[2:half]), tuple(flat[half + 2 :]))


def value_of_pad(step: Step) -> float:
    """What a Pad of mode constant writes."""
    return float(values_of(step, "value")[0]) if len(step.inputs) > 2 else 0.0


def values_of(step: Step, role: str) -> tuple[int | float, ...]:
    """The constant that a step reads under this name."""
    return next(one.values for one in step.inputs if isinstance(one, Numbers) and one.role == role)


def _listed(attributes: dict[str, AttributeValue], name: str) -> tuple[int, ...]:
    found = attributes.get(name, ())
    return found if isinstance(found, tuple) else ()
