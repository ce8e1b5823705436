"""What a figure draws is what the operator reads: held against loops over every window."""

from __future__ import annotations

from random import Random
from xml.etree import ElementTree as ET

import pytest

from onnxpad import inspect
from onnxpad.show.pages.drawings import Drawing, DrawnAxis, Frame, drawing_of, sentence
from tests.models.text import text_model

pytest.importorskip("jinja2", reason="the extra html is not installed")

from onnxpad.show.pages.figures import strip_of, window_figure


@pytest.mark.parametrize("seed", range(30))
def test_windows_and_what_none_reads(seed: int) -> None:
    random = Random(seed)
    size, kernel, stride = random.randint(1, 40), random.randint(1, 6), random.randint(1, 5)
    dilation, draws = random.randint(1, 3), [random.randint(0, 4) for _ in range(4)]
    front, own = (draws[0], draws[1]), (draws[2], draws[3])
    begin, end = front[0] + own[0], front[1] + own[1]
    span = dilation * (kernel - 1) + 1
    count = (size + begin + end - span) // stride + 1
    if count < 1:
        return
    strip = strip_of(DrawnAxis(size, "", kernel, stride, dilation, count, (front, own)))
    drawn = len(strip.data)
    assert (size - drawn) % stride == 0
    count -= (size - drawn) // stride
    read = {n * stride - begin + t * dilation for n in range(count) for t in range(kernel)}
    assert {*strip.unread} == {cell for cell in range(-begin, drawn + end) if cell not in read}
    starts = [0, *([1] if count > 1 else []), *([count - 1] if count > 2 else [])]
    wanted = [[n * stride - begin + t * dilation for t in range(kernel)] for n in starts]
    assert [list(window) for window in strip.windows] == wanted
    assert {-begin, drawn + end - 1, 0, drawn - 1} <= {*strip.drawn}


def test_a_long_axis_is_drawn_shorter_with_the_same_ends() -> None:
    axis = DrawnAxis(224, "", 3, 2, 1, 112, ((0, 1),))
    strip = strip_of(axis)
    assert (len(strip.data), len(strip.drawn), strip.kept) == (12, 13, range(13))
    assert [*map(list, strip.windows)] == [[0, 1, 2], [2, 3, 4], [10, 11, 12]]
    shown = window_figure(Drawing("Conv", (axis,), (Frame("Conv", "0"),)))
    assert "224, drawn as 12" in shown


def drawing(nodes: str, inputs: str, constants: str = "") -> Drawing:
    found = inspect(text_model(nodes, inputs, constants=constants))
    return drawing_of(found.chains[-1])


def test_a_pad_in_front_and_the_operator_are_two_frames() -> None:
    found = drawing(
        """
        p = Pad (x, q)
        y = MaxPool <kernel_shape=[3,3], strides=[2,2], pads=[1,0,0,1]> (p)
        """,
        "float[1,1,9,9] x",
        "int64[8] q = {0,0,1,1,0,0,1,1}",
    )
    assert [(axis.cells, *axis.pads) for axis in found.axes] == [
        (9, (1, 1), (1, 0)),
        (9, (1, 1), (0, 1)),
    ]
    assert found.frames == (Frame("Pad", "0"), Frame("MaxPool", "the lowest value"))
    assert "the lowest value" in sentence(found)
    assert "Pad adds [1, 1, 1, 1] (0). MaxPool adds [1, 0, 0, 1] (" in sentence(found)


def test_a_transposed_convolution_cuts_cells_off() -> None:
    found = drawing(
        "y = ConvTranspose <kernel_shape=[3,3], strides=[2,2], pads=[0,0,1,1]> (x, w)",
        "float[1,1,4,4] x, float[1,1,3,3] w",
    )
    assert [(axis.cells, axis.pads) for axis in found.axes] == [(9, ((0, -1),))] * 2
    assert found.scatters
    svg = window_figure(found)
    assert 'class="cut"' in svg
    assert "cuts off [0, 0, 1, 1]" in svg


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_every_rank_is_drawn(rank: int) -> None:
    axis = DrawnAxis(7, "", 3, 2, 1, 3, ((1, 0),))
    shown = Drawing("Conv", (axis,) * rank, (Frame("Conv", "0"),))
    root = ET.fromstring(window_figure(shown))  # noqa: S314 - our own
    assert len(root.findall("g")) == (1 if rank < 3 else rank)


def test_huge_windows_stay_small() -> None:
    axis = DrawnAxis(2**31, "", 16384, 1, 1, 2**31, ((9000, 9000),))
    assert len(window_figure(Drawing("Conv", (axis, axis), (Frame("Conv", "0"),)))) < 8000
