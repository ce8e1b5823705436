"""Who can write a layer: what inspect says, against goldens and rules written out on small axes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

import onnxpad
from tests.conftest import Recorded
from tests.resolving.goldens import ALL, SAMPLE, goldens
from tests.retargeting.test_moves import model_called

CASES = Path(__file__).parent / "cases" / "fits.txt"
ANY = ("any",)
FILES = [SAMPLE, *sorted(ALL.glob("*.json"))] if ALL.is_dir() else [SAMPLE]
OPS = ("Conv", "ConvTranspose", "MaxPool", "AveragePool")
Windows = tuple[tuple[int, int], ...]
"""Where each window starts in the data, and how many cells an average divides by."""


class Layer(NamedTuple):
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

    def outputs(self, begin: int, end: int, *, up: bool = False, clip: bool = True) -> int:
        room = self.size + begin + end - self.span
        count = (-(-room // self.stride) if up else room // self.stride) + 1
        return count - (up and clip and (count - 1) * self.stride >= self.size + begin)

    def windows(self, count: int, begin: int, end: int, *, counts: bool = False) -> Windows:
        low, high = (-begin, self.size + end) if counts else (0, self.size)
        taps = range(0, self.span, self.dilation) if self.op == "AveragePool" else ()
        starts = [window * self.stride - begin for window in range(count)]
        return tuple((start, sum(low <= start + tap < high for tap in taps)) for start in starts)

    def own(self) -> Windows:
        count = self.outputs(self.begin, self.end, up=self.ceil)
        return self.windows(count, self.begin, self.end, counts=self.counts)


def conventions(layer: Layer, words: str = "") -> tuple[str, ...]:
    """The frameworks that inspect names for the layer, on two equal axes."""
    line = f"{layer.op} {layer.size} {layer.kernel} strides={layer.stride} {words}"
    line += f" dilations={layer.dilation} pads={layer.begin},{layer.end}"
    line += " ceil_mode=1" * layer.ceil + " count_include_pad=1" * layer.counts
    (node,) = onnxpad.inspect(model_called(line)).nodes
    return node.conventions


def keras(layer: Layer) -> Iterator[Windows]:
    count, reach = -(-layer.size // layer.stride), layer.span - 1
    total = max(0, (count - 1) * layer.stride + layer.span - layer.size)
    yield layer.windows(count, total // 2, total - total // 2)
    if layer.size >= layer.span:
        yield layer.windows(layer.outputs(0, 0), 0, 0)
    if layer.op == "Conv":
        yield layer.windows(layer.outputs(reach, 0), reach, 0)


def pytorch(layer: Layer) -> Iterator[Windows]:
    pools = layer.op != "Conv"
    for pad, up in product(range(layer.span // 2 + 1) if pools else range(8), (False, True)):
        count = layer.outputs(pad, pad, up=up and pools)
        yield layer.windows(count, pad, pad)
        yield layer.windows(count, pad, pad, counts=True)
        if layer.op == "AveragePool":  # divisor_override
            yield tuple((begin, layer.kernel) for begin, _ in layer.windows(count, pad, pad))
    if layer.op == "Conv" and layer.stride == 1:
        begin = (layer.span - 1) // 2
        yield layer.windows(layer.size, begin, layer.span - 1 - begin)


def caffe(layer: Layer) -> Iterator[Windows]:
    pools = layer.op != "Conv"
    for pad, up in product(range(layer.kernel if pools else 8), (False, True)):
        count = layer.outputs(pad, pad, up=up and pools, clip=pad > 0)
        yield layer.windows(count, pad, pad, counts=True)


RULES = {"keras": keras, "pytorch": pytorch, "caffe": caffe}


def layers(op: str) -> Iterator[Layer]:
    flags = (False, True) if op != "Conv" else (False,)
    counting = (False, True) if op == "AveragePool" else (False,)
    dilations = (1, 2) if op == "Conv" else (1,)  # most pools of frameworks have none
    numbers = product(
        (3, 6), (1, 2, 3), (1, 2, 3), dilations, (0, 1, 2), (0, 1, 2), flags, counting
    )
    for layer in (Layer(op, *row) for row in numbers):
        fits = layer.size + layer.begin + layer.end >= layer.span
        if fits and (op == "Conv" or max(layer.begin, layer.end) < layer.kernel):
            yield layer


@pytest.mark.sweep
@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool"])
def test_a_convention_fits_exactly_what_the_framework_can_write(op: str) -> None:
    fitting = 0
    for layer in layers(op):
        named = conventions(layer)
        for name, rule in RULES.items():
            expected = layer.own() in set(rule(layer))
            fitting += expected
            assert (name in named or named == ANY) is expected, (name, layer)
    assert fitting > 60


@pytest.mark.parametrize(
    ("kernel", "stride", "more"),
    [(2, 2, 0), (3, 2, 0), (4, 2, 0), (5, 3, 0), (1, 2, 0), (3, 1, 0), (3, 2, 1), (5, 3, 2)],
)
@pytest.mark.part(2)
def test_transposed_convolutions_of_tensorflow(kernel: int, stride: int, more: int) -> None:
    """It writes begin and output of SAME and VALID, for every output that has 5 windows."""
    full = 4 * stride + kernel
    crops = {(max(0, full - made) // 2, made) for made in range(full - kernel + 1, 5 * stride + 1)}
    crops |= {(0, made) for made in range(full, full + stride)}
    for begin, end in product(range(4), range(4)):
        layer = Layer("ConvTranspose", 5, kernel, stride, 1, begin, end)
        named = conventions(layer, f"output_padding={more}")
        expected = (begin, full - begin - end + more) in crops
        assert ("tensorflow" in named or named == ANY) is expected, (begin, end)


def test_who_can_write_a_layer(recorded: Recorded) -> None:
    """Layers as in tests/retargeting/cases, and what inspect names for them."""

    def named(line: str) -> str:
        (node,) = (one for one in onnxpad.inspect(model_called(line)).nodes if one.op != "Pad")
        return ", ".join(node.conventions) or "nobody"

    recorded(CASES, " : ", named)


@pytest.mark.part(4)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_framework_of_a_golden_layer_is_named(path: Path) -> None:
    """A Pad behind a pool writes windows of padding alone, which the pool then does not have."""
    too_few = 0
    for golden in goldens(path):
        model = golden.resolved().to_model(golden.weight, golden.bias)
        (node,) = (node for node in onnxpad.inspect(model).nodes if node.op in OPS)
        if golden.record["framework"] not in node.conventions and node.conventions != ANY:
            assert model.graph.node[-1].op_type == "Pad", golden.record
            assert "Pool" in node.op, golden.record
            too_few += 1
    assert too_few <= 3
