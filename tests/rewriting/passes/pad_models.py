"""Models of one Pad node, of any opset that has it, and what the oracle makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from onnxpad.rewriting.rewrite import Rewriting, rewrite
from tests.oracle.onnxruntime_levels import ran
from tests.oracle.operators import pad

Array = NDArray[Any]
OPSETS = (2, 5, 10, 11, 13, 18, 21, 25)
DTYPES = ("float32", "int8", "uint8", "int64", "bool", "float64", "float16")


@dataclass(frozen=True)
class PadCase:
    """A Pad over `axes`, or over all of them; names in `shown` stand for sizes in the file."""

    shape: tuple[int, ...]
    pads: tuple[int, ...]
    mode: str = "constant"
    value: float | None = None
    axes: tuple[int, ...] | None = None
    opset: int = 18
    dtype: str = "float32"
    shown: tuple[str | int, ...] = ()

    @property
    def x(self) -> Array:
        """Signed cells, all different where the type has as many."""
        count = int(np.prod(self.shape))
        cells = np.random.default_rng(count).permutation(np.arange(count) - count // 3)
        if self.dtype in ("uint8", "bool"):
            cells = cells % (2 if self.dtype == "bool" else 255)
        return cells.astype(self.dtype).reshape(self.shape)

    def wanted(self) -> Array | None:
        """The result by the text of the operator; None where it has none."""
        value = 0 if self.value is None else self.value
        try:
            return pad(self.x, self.pads, mode=self.mode, value=value, axes=self.axes)
        except ValueError:
            return None

    def model(self) -> onnx.ModelProto:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        constants = []
        attributes: dict[str, Any] = {"mode": self.mode}
        names = ["x"]
        if self.opset < 11:
            attributes["pads"] = self.pads
            if self.value is not None:
                attributes["value"] = float(self.value)
        else:
            names += ["pads", "value" if self.value is not None else "", "axes"]
            constants.append(numpy_helper.from_array(np.array(self.pads, np.int64), "pads"))
            if self.value is not None:
                value = np.array(self.value).astype(self.dtype)
                constants.append(numpy_helper.from_array(value, "value"))
            if self.axes is not None:
                constants.append(numpy_helper.from_array(np.array(self.axes, np.int64), "axes"))
            else:
                names = names[:3] if self.value is not None else names[:2]
        node = helper.make_node("Pad", names, ["y"], "op", **attributes)
        shown = self.shown or self.shape
        graph = helper.make_graph(
            [node],
            "one",
            [helper.make_tensor_value_info("x", kind, shown)],
            [helper.make_tensor_value_info("y", kind, [f"y{axis}" for axis in range(len(shown))])],
            constants,
        )
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, ir_version=8, opset_imports=opsets)


def rewritten(
    case: PadCase, *rules: str, dims: dict[str, int | str] | None = None
) -> tuple[Rewriting, onnx.ModelProto]:
    done = rewrite(case.model(), passes=rules, dims=dims)
    assert isinstance(done.model, onnx.ModelProto)
    return done, done.model


def assert_equal(found: Array | str, wanted: Array, case: object) -> None:
    assert not isinstance(found, str), f"{found}\n{case}"
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), case
    np.testing.assert_array_equal(found, wanted, err_msg=str(case))


def assert_by_onnxruntime(model: onnx.ModelProto, case: PadCase, wanted: Array) -> None:
    """onnxruntime gives the same, optimised or not."""
    for optimised in (False, True):
        assert_equal(ran(model, {"x": case.x}, optimised=optimised), wanted, case)


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node if node.op_type != "Constant"]


def flat(begins: Sequence[int], ends: Sequence[int]) -> tuple[int, ...]:
    return (*begins, *ends)
