"""average-by-parts: windows at the border are averages of what they have of the data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.passes import average_by_parts
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.validation import validate
from tests.models.text import text_model
from tests.models.tiny import refused
from tests.oracle.interpreter import run_model

RULE = "average-by-parts"
MARGINS = (0, 0), (1, 0), (0, 1), (1, 1), (2, 1)


def average(attributes: str, shape: str = "1, 2, 7", opset: int = 13) -> onnx.ModelProto:
    return text_model(
        f"y = AveragePool <{attributes}> (x)",
        inputs=f"float[{shape}] x",
        outputs=f"float[{', '.join(f'd{place}' for place in range(shape.count(',') + 1))}] y",
        opset=opset,
    )


def reason(model: onnx.ModelProto) -> str:
    return refused(model, RULE).reason


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("ceil", [0, 1])
def test_every_small_window(ceil: int, dilation: int) -> None:
    rewritten = 0
    rng = np.random.default_rng(3)
    for (begin, end), kernel, stride, size in product(MARGINS, (2, 3), (1, 2, 3), (4, 5, 6)):
        if max(begin, end) >= kernel:
            continue
        model = average(
            f"kernel_shape = [{kernel}], strides = [{stride}], pads = [{begin}, {end}], "
            f"ceil_mode = {ceil}, dilations = [{dilation}]",
            f"1, 2, {size}",
            opset=19,
        )
        done = rewrite(model, passes=RULE)
        if not done.changed:
            continue
        rewritten += 1
        assert isinstance(done.model, onnx.ModelProto)
        x = {"x": rng.normal(size=(1, 2, size)).astype(np.float32)}
        np.testing.assert_allclose(
            run_model(done.model, x)["y"], run_model(model, x)["y"], rtol=1e-5, atol=1e-5
        )
        pools = [node for node in done.model.graph.node if node.op_type == "AveragePool"]
        assert not any(any(a.ints) for node in pools for a in node.attribute if a.name == "pads")
    assert rewritten > 30


def test_two_axes_are_proved() -> None:
    model = average("kernel_shape = [3, 3], strides = [2, 1], pads = [1, 1, 1, 1]", "1, 2, 7, 9")
    done = rewrite(model, passes=RULE)
    assert validate(model, done.model).verdict == "proved"


LEFT = [
    (
        "kernel_shape = [3], pads = [1, 1]",
        "1, 2, n",
        "its parts depend on sizes that are not known",
    ),
    ("kernel_shape = [2], pads = [2, 0]", "1, 2, 6", "a window lies in the padding alone"),
    (
        "kernel_shape = [2], dilations = [3], pads = [1, 1]",
        "1, 2, 2",
        "a window lies in the padding alone",
    ),
    (
        "kernel_shape = [40], pads = [17, 0]",
        "1, 2, 60",
        "more than 16 windows of an axis lie at its borders",
    ),
    (
        "kernel_shape = [3], pads = [-1, 0]",
        "1, 2, 6",
        "the pads [-1, 0] are negative, onnxruntime and the checker refuse",
    ),
]


@pytest.mark.parametrize(("attributes", "shape", "why"), LEFT)
def test_what_is_left(attributes: str, shape: str, why: str) -> None:
    assert reason(average(attributes, shape, opset=19)) == why


def test_sixteen_windows_at_a_border_are_written() -> None:
    model = average("kernel_shape = [40], pads = [16, 0]", "1, 2, 60")
    assert rewrite(model, passes=RULE).changed


def test_an_integer_average_is_left() -> None:
    model = text_model(
        "y = com.microsoft.QLinearAveragePool <kernel_shape = [3], pads = [1, 1]> (x, s, z, s, z)",
        inputs="uint8[1, 2, 7] x",
        outputs="uint8[a, b, c] y",
        constants="float s = {0.5}, uint8 z = {3}",
    )
    assert reason(model) == "an integer average of averages would be rounded twice"


class Counted:
    """A range that counts the cells that are asked for, one by one; a part of it does as well."""

    def __init__(self, asked: list[int], cells: range) -> None:
        self._asked, self._cells = asked, cells
        self.start, self.stop, self.step = cells.start, cells.stop, cells.step

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[int]:
        for cell in self._cells:
            yield self._one(cell)

    def __getitem__(self, place: int | slice) -> int | Counted:
        found = self._cells[place]
        return Counted(self._asked, found) if isinstance(found, range) else self._one(found)

    def index(self, cell: int) -> int:
        return self._cells.index(cell)

    def _one(self, cell: int) -> int:
        self._asked.append(cell)
        assert len(self._asked) < 100, "the axis is walked"
        return cell


def test_an_axis_of_a_billion_cells_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    counted = partial(_counted, asked)
    monkeypatch.setattr(average_by_parts, "range", counted, raising=False)
    model = average("kernel_shape = [3], pads = [1, 1]", shape="1, 2, 1000000000")
    assert rewrite(model, passes=RULE).changed
    assert {-1, 999_999_998} <= set(asked)


def _counted(asked: list[int], *sides: int) -> Counted:
    return Counted(asked, range(*sides))
