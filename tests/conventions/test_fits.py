"""Conventions against each framework's rule, written out on small axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest

from onnxpad.fitting import ANY, fits
from onnxpad.frameworks.conventions import all_conventions, all_habits
from onnxpad.geometry.size import Symbol
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import AutoPad, Chain, Constant, Implicit, Pads
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.operators import OPERATORS

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
            (Axis(self.size, self.kernel, self.stride, self.dilation),),
            Pads((self.begin,), (self.end,)),
            Constant(0) if fill is None or self.counts else fill,
            "float32",
            ceil_mode=self.ceil,
            counts_padding=self.counts,
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


def tensorflow(layer: Layer) -> Iterator[Windows]:
    total = same(layer)
    count = -(-layer.size // layer.stride)
    yield layer.windows(count, total // 2, total - total // 2, counts=False)
    if layer.size >= layer.span:
        yield layer.windows(rounded(layer, 0, 0, up=False, clip=False), 0, 0, counts=False)


def onnx_same_lower(layer: Layer) -> Iterator[Windows]:
    total = same(layer)
    count = -(-layer.size // layer.stride)
    for counts in (False, True):
        yield layer.windows(count, total - total // 2, total // 2, counts=counts)
    if layer.size >= layer.span:
        yield layer.windows(rounded(layer, 0, 0, up=False, clip=False), 0, 0, counts=False)


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


def caffe(layer: Layer) -> Iterator[Windows]:
    for pad in range(8):
        pooled = layer.op != "Conv"
        count = rounded(layer, pad, pad, up=pooled, clip=pad > 0)
        yield layer.windows(count, pad, pad, counts=True)


RULES = {
    "tensorflow": tensorflow,
    "onnx-same-lower": onnx_same_lower,
    "pytorch": pytorch,
    "caffe": caffe,
}


def layers(op: str) -> Iterator[Layer]:
    flags = (False, True) if op != "Conv" else (False,)
    counting = (False, True) if op == "AveragePool" else (False,)
    for size, kernel, stride, begin, end, ceil, counts in product(
        (3, 4, 5, 6), (1, 2, 3, 4), (1, 2, 3), (0, 1, 2), (0, 1, 2), flags, counting
    ):
        layer = Layer(op, size, kernel, stride, 1, begin, end, ceil, counts)
        if layer.size + begin + end >= layer.span and (op == "Conv" or max(begin, end) < kernel):
            yield layer
    for size, begin, end in product((5, 6), (0, 1, 2), (0, 1, 2)):
        yield Layer(op, size, 3, 2, 2, begin, end)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool"])
def test_a_convention_fits_exactly_what_the_framework_can_write(op: str, name: str) -> None:
    missed, claimed, fitting = [], [], 0
    for layer in layers(op):
        chain = layer.chain()
        found = fits(chain, Pads((layer.begin,), (layer.end,)))
        expected = layer.own() in set(RULES[name](layer))
        says = name in found or found == (ANY,)
        fitting += expected
        missed += [layer] if expected and not says else []
        claimed += [layer] if says and not expected else []
    assert claimed == []
    assert missed == []
    assert fitting > 20


def test_every_group_has_a_rule_here() -> None:
    assert all_habits().keys() == RULES.keys()


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


def gradient_crops(kernel: int, stride: int, more: int) -> set[tuple[int, int]]:
    """(begin, end) of TensorFlow's SAME for every output that has 5 windows."""
    full = 4 * stride + kernel
    found = set()
    for wanted in range(4 * stride + 1, 5 * stride + 1):
        total = max(0, full - wanted)
        end = full + more - wanted - total // 2
        found |= {(total // 2, end)} if end >= 0 else set()
    return found | {(0, 0)}


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
    crops = gradient_crops(kernel, stride, more)
    for begin, end in product(range(4), range(4)):
        chain = transposed(kernel, stride, begin, end, more)
        found = fits(chain, Pads((begin,), (end,)))
        assert ("tensorflow" in found or found == (ANY,)) is ((begin, end) in crops), (begin, end)


def test_caffe_has_no_output_padding() -> None:
    assert fits(transposed(3, 2, 1, 1), Pads((1,), (1,))) == (ANY,)
    assert fits(transposed(3, 2, 1, 1, 1), Pads((1,), (1,))) == ("onnx-same-lower", "pytorch")


@pytest.mark.parametrize(
    ("mode", "name"), [("SAME_UPPER", "tensorflow"), ("SAME_LOWER", "onnx-same-lower")]
)
def test_same_of_an_unknown_size_is_one_framework_s(mode: str, name: str) -> None:
    axis = Axis(Symbol("H"), 3, 4)
    chain = Chain(OPERATORS["", "Conv"], 13, (axis,), AutoPad(mode), Constant(0), "float32")
    assert not isinstance(effective_pads(chain), Pads)
    assert fits(chain, None) == (name,)


def test_an_unpadded_convolution_fits_all_whatever_its_size() -> None:
    axis = Axis(Symbol("H"), 3, 2)
    chain = Chain(OPERATORS["", "Conv"], 13, (axis,), Pads.zero(1), Constant(0), "float32")
    assert fits(chain, Pads.zero(1)) == (ANY,)


def test_a_pad_node_fits_none() -> None:
    chain = Chain(OPERATORS["", "Pad"], 13, (), Pads((), ()), Constant(0))
    assert fits(chain, Pads.zero(0)) == ()


def test_conventions_say_where_they_are_known_from() -> None:
    for name, convention in all_conventions().items():
        assert convention.name == name
        assert len(convention.text) > 60
        assert len(convention.source) > 20
