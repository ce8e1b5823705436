"""Conventions against each framework's rule, written out on small axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from onnxpad.frameworks.fits import ANY, fits
from onnxpad.geometry.windows import Axis
from onnxpad.inspection import inspect
from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.fills import Constant, Implicit
from onnxpad.padding.operators import OPERATORS
from tests.retargeting.test_moves import model_called

CASES = Path(__file__).parent / "cases" / "fits.txt"
Windows = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Layer:
    """A padded operator on one axis."""

    op: str
    size: int
    kernel: int
    stride: int = 1
    dilation: int = 1
    begin: int = 0
    end: int = 0
    ceil: bool = False
    counts: bool = False

    @property
    def span(self) -> int:
        return self.dilation * (self.kernel - 1) + 1

    def chain(self) -> Chain:
        fill = {"MaxPool": Implicit.LOWEST, "AveragePool": Implicit.NOTHING}.get(self.op)
        return Chain(
            OPERATORS["", self.op],
            22,
            (Axis(self.size, self.kernel, self.stride, self.dilation),) * 2,
            Pads((self.begin,) * 2, (self.end,) * 2),
            Constant(0) if fill is None or self.counts else fill,
            "float32",
            ceil_mode=self.ceil,
        )

    def windows(self, count: int, begin: int, end: int, *, counts: bool) -> Windows:
        """Where each window starts in the data and how many cells an average divides by."""
        starts = [window * self.stride - begin for window in range(count)]
        low, high = (-begin, self.size + end) if counts else (0, self.size)
        return tuple(
            (start, self._counted(start, low, high) if self.op == "AveragePool" else 0)
            for start in starts
        )

    def _counted(self, start: int, low: int, high: int) -> int:
        return sum(low <= start + tap * self.dilation < high for tap in range(self.kernel))

    def own(self) -> Windows:
        count = rounded(self, self.begin, self.end, up=self.ceil, clip=True)
        return self.windows(count, self.begin, self.end, counts=self.counts)


def rounded(layer: Layer, begin: int, end: int, *, up: bool, clip: bool) -> int:
    room = layer.size + begin + end - layer.span
    count = (-(-room // layer.stride) if up else room // layer.stride) + 1
    if up and clip and (count - 1) * layer.stride >= layer.size + begin:
        count -= 1
    return count


def same(layer: Layer) -> int:
    count = -(-layer.size // layer.stride)
    return max(0, (count - 1) * layer.stride + layer.span - layer.size)


def keras(layer: Layer) -> Iterator[Windows]:
    total = same(layer)
    count = -(-layer.size // layer.stride)
    yield layer.windows(count, total // 2, total - total // 2, counts=False)
    if layer.size >= layer.span:
        yield layer.windows(rounded(layer, 0, 0, up=False, clip=False), 0, 0, counts=False)
    if layer.op == "Conv":
        reach = layer.span - 1
        count = rounded(layer, reach, 0, up=False, clip=False)
        yield layer.windows(count, reach, 0, counts=False)


def pytorch(layer: Layer) -> Iterator[Windows]:
    if layer.op == "Conv":
        for pad in range(8):
            yield layer.windows(
                rounded(layer, pad, pad, up=False, clip=False), pad, pad, counts=False
            )
        if layer.stride == 1:
            total = layer.span - 1
            yield layer.windows(layer.size, total // 2, total - total // 2, counts=False)
        return
    for pad, up, counts in product(range(layer.span // 2 + 1), (False, True), (False, True)):
        count = rounded(layer, pad, pad, up=up, clip=True)
        yield layer.windows(count, pad, pad, counts=counts)
        if layer.op == "AveragePool":  # divisor_override
            yield tuple(
                (begin, layer.kernel) for begin, _ in layer.windows(count, pad, pad, counts=True)
            )


def caffe(layer: Layer) -> Iterator[Windows]:
    pools = layer.op != "Conv"
    for pad, up in product(
        range(layer.kernel if pools else 8), (False, True) if pools else (False,)
    ):
        count = rounded(layer, pad, pad, up=up, clip=pad > 0)
        yield layer.windows(count, pad, pad, counts=True)


RULES = {"keras": keras, "pytorch": pytorch, "caffe": caffe}


def layers(op: str) -> Iterator[Layer]:
    flags = (False, True) if op != "Conv" else (False,)
    counting = (False, True) if op == "AveragePool" else (False,)
    for size, kernel, stride, begin, end, ceil, counts in product(
        (3, 6), (1, 2, 3), (1, 2, 3), (0, 1, 2), (0, 1, 2), flags, counting
    ):
        layer = Layer(op, size, kernel, stride, 1, begin, end, ceil, counts)
        if layer.size + begin + end >= layer.span and (op == "Conv" or max(begin, end) < kernel):
            yield layer
    # Most pools of frameworks have no dilation.
    for size, begin, end in product((5, 6) if op == "Conv" else (), (0, 1, 2), (0, 1, 2)):
        yield Layer(op, size, 3, 2, 2, begin, end)


@pytest.mark.sweep
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool"])
def test_a_convention_fits_exactly_what_the_framework_can_write(op: str, name: str) -> None:
    missed, claimed, fitting = [], [], 0
    for layer in layers(op):
        chain = layer.chain()
        found = fits(chain)
        expected = layer.own() in set(RULES[name](layer))
        says = name in found or found == (ANY,)
        fitting += expected
        missed += [layer] if expected and not says else []
        claimed += [layer] if says and not expected else []
    assert claimed == []
    assert missed == []
    assert fitting > 20


def transposed(kernel: int, stride: int, begin: int, end: int, more: int = 0) -> Chain:
    return Chain(
        OPERATORS["", "ConvTranspose"],
        13,
        (Axis(5, kernel, stride),),
        Pads((begin,), (end,)),
        Constant(0),
        "float32",
        output_padding=(more,) if more else (),
    )


def gradient_crops(kernel: int, stride: int) -> set[tuple[int, int]]:
    """(begin, output) of TensorFlow's SAME and VALID for every output that has 5 windows."""
    full = 4 * stride + kernel
    same = {
        (max(0, full - wanted) // 2, wanted) for wanted in range(4 * stride + 1, 5 * stride + 1)
    }
    return same | {(0, wanted) for wanted in range(full, full + stride)}


@pytest.mark.parametrize(
    ("kernel", "stride", "more"),
    [
        (2, 2, 0),
        (3, 2, 0),
        (4, 2, 0),
        (5, 3, 0),
        (1, 2, 0),
        (3, 1, 0),
        (3, 2, 1),
        (4, 2, 1),
        (5, 3, 2),
    ],
)
def test_transposed_convolutions_of_tensorflow(kernel: int, stride: int, more: int) -> None:
    crops, full = gradient_crops(kernel, stride), 4 * stride + kernel
    for begin, end in product(range(4), range(4)):
        chain = transposed(kernel, stride, begin, end, more)
        found = fits(chain)
        assert ("tensorflow" in found or found == (ANY,)) is (
            (begin, full - begin - end + more) in crops
        ), (begin, end)


def test_who_can_write_a_layer(request: pytest.FixtureRequest) -> None:
    """`cases/fits.txt`: layers as in tests/retargeting/cases, and what inspect names for them."""
    lines = CASES.read_text().splitlines()
    rows = []
    for line in (line.partition(" : ")[0] for line in lines):
        (node,) = (one for one in inspect(model_called(line)).nodes if one.op != "Pad")
        rows.append(f"{line} : {', '.join(node.conventions) or 'nobody'}")
    if request.config.getoption("--record"):
        CASES.write_text("\n".join(rows) + "\n")
    assert rows == lines or request.config.getoption("--record")
