"""Writes expansions: steps one after the other, spelt as the opset of the node wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnxpad.geometry import cuts
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Pads
from onnxpad.padding.expansion import Expansion, Itself, Made, Named, Numbers, Operand, Step
from onnxpad.padding.fills import Constant, Fill, TensorValue
from onnxpad.padding.operators import AttributeValue, PadInput, Since, name_of_pads

LAST = cuts.LAST


class Composer:
    """Collects the steps of one expansion.

    `opset` is that of the ONNX operators where the node stands, `dtype` the element type of its
    input. Methods give what the new step makes.
    """

    def __init__(self, opset: int, dtype: str) -> None:
        self.opset = opset
        self.dtype = dtype
        self._steps: list[Step | Itself] = []

    def add(
        self,
        op_type: str,
        *inputs: Operand | None,
        attributes: Mapping[str, AttributeValue] | None = None,
        role: str = "",
        outputs: int = 1,
        domain: str = "",
    ) -> Made:
        """A new node; its name ends in `role`, by default the operator's in small letters."""
        written = tuple((attributes or {}).items())
        named = role or op_type.lower()
        self._steps.append(Step(named, op_type, inputs, written, outputs, domain))
        return Made(len(self._steps) - 1)

    def itself(
        self,
        inputs: Mapping[int, Operand | None] | None = None,
        *,
        sets: Mapping[str, AttributeValue] | None = None,
        removes: Sequence[str] = (),
    ) -> Made:
        """The node itself, with other inputs and attributes."""
        read = tuple((inputs or {}).items())
        self._steps.append(Itself(read, tuple((sets or {}).items()), tuple(removes)))
        return Made(len(self._steps) - 1)

    def pad(
        self,
        data: Operand,
        begins: Sequence[int],
        ends: Sequence[int],
        fill: Fill,
        *,
        role: str = "pad",
        mode: str = "constant",
    ) -> Made:
        """A Pad node over all axes of `data`, which has the element type of the node's input.

        Where Pad has attributes the fill must be a Constant (Pad-2 takes floating point only).
        """
        flat = (*begins, *ends)
        if self.opset < Since.PAD_INPUTS:
            value = float(fill.value) if isinstance(fill, Constant) else 0.0
            listed = name_of_pads(self.opset)
            written: dict[str, AttributeValue] = {"mode": mode, listed: flat, "value": value}
            return self.add("Pad", data, attributes=written, role=role)
        pads = Numbers(f"{role}_pads", "int64", (len(flat),), flat)
        return self.pad_by(data, pads, fill, role=role, mode=mode)

    def pad_by(
        self,
        data: Operand,
        pads: Operand,
        fill: Fill,
        *,
        role: str = "pad",
        mode: str = "constant",
        axes: Sequence[int] = (),
    ) -> Made:
        """A Pad node whose pads are a tensor; needs Since.PAD_INPUTS, `axes` Since.PAD_AXES."""
        inputs: list[Operand | None] = [data, pads]
        if isinstance(fill, TensorValue):
            inputs.append(Named(fill.tensor))
        elif isinstance(fill, Constant) and fill.value != 0:
            inputs.append(Numbers(f"{role}_value", self.dtype, (), (fill.value,)))
        if axes:
            listed = Numbers(f"{role}_axes", "int64", (len(axes),), tuple(axes))
            inputs += [None] * (PadInput.AXES - len(inputs)) + [listed]
        return self.add("Pad", *inputs, attributes={"mode": mode}, role=role)

    def slice(
        self,
        data: Operand,
        axes: Sequence[int],
        starts: Sequence[int],
        ends: Sequence[int],
        *,
        steps: Sequence[int] | None = None,
        role: str = "crop",
    ) -> Made:
        """A Slice to the `ends` (LAST: end of the axis); `steps` need Since.SLICE_INPUTS."""
        lists = {"starts": tuple(starts), "ends": tuple(ends), "axes": tuple(axes)}
        if steps is not None:
            lists["steps"] = tuple(steps)
        if self.opset < Since.SLICE_INPUTS:
            return self.add("Slice", data, attributes=lists, role=role)
        given = [Numbers(f"{role}_{n}", "int64", (len(v),), v) for n, v in lists.items()]
        return self.add("Slice", data, *given, role=role)

    def cut(self, data: Operand, cells: Pads, first: int = 0, *, role: str = "crop") -> Made:
        """The data without as many cells at its borders as `cells` says of axes from `first` on."""
        axes = [axis for axis, sides in enumerate(cells.sides) if any(sides)]
        starts = [cells.begins[axis] for axis in axes]
        ends = [-cells.ends[axis] or LAST for axis in axes]
        return self.slice(data, [first + axis for axis in axes], starts, ends, role=role)

    def unsqueeze(self, data: Operand, axes: Sequence[int], *, role: str = "unsqueeze") -> Made:
        """Axes of size 1 at `axes` of the result."""
        return self._with_axes("Unsqueeze", data, axes, role)

    def squeeze(self, data: Operand, axes: Sequence[int], *, role: str = "squeeze") -> Made:
        """Without `axes`, which have size 1."""
        return self._with_axes("Squeeze", data, axes, role)

    def finish(self, *results: Made) -> Expansion:
        """The expansion; `results` are what the node's outputs become."""
        return Expansion(tuple(self._steps), results)

    def _with_axes(self, op_type: str, data: Operand, axes: Sequence[int], role: str) -> Made:
        if self.opset < Since.AXES_INPUT:
            return self.add(op_type, data, attributes={"axes": tuple(axes)}, role=role)
        listed = Numbers(f"{role}_axes", "int64", (len(axes),), tuple(axes))
        return self.add(op_type, data, listed, role=role)


def window_attributes(axes: Sequence[Axis]) -> dict[str, AttributeValue]:
    """The attributes of a convolution or pool that slides like that, padding apart."""
    found: dict[str, AttributeValue] = {
        "kernel_shape": tuple(axis.kernel for axis in axes),
        "strides": tuple(axis.stride for axis in axes),
    }
    if any(axis.dilation > 1 for axis in axes):
        found["dilations"] = tuple(axis.dilation for axis in axes)
    return found
