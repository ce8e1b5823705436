"""Nodes against windows worked out cell by cell: odd pads, rounding, divisors, empty windows."""

from __future__ import annotations

from itertools import product
from math import inf, nan, prod
from random import Random
from typing import Any

import numpy as np
import pytest

from onnxpad.errors import RequestError
from onnxpad.frameworks.choices import Divisor, Outside, Override, Rounding
from onnxpad.frameworks.conventions import layer_of, word_of
from onnxpad.frameworks.layer import AxisCrop, Given, Layer, Mode, Slide
from onnxpad.frameworks.rules import EXPLICIT, full_extent
from onnxpad.frameworks.to_onnx import LOWEST, lower
from onnxpad.frameworks.worked_out import WorkedOut, make_plan
from onnxpad.geometry.windows import Axis
from onnxpad.model.small_models import layer_model
from onnxpad.runtimes.onnxruntime.runtime_check import kept_apart
from tests.resolving.goldens import difference, run

ROUNDINGS = (Rounding.DOWN, Rounding.UP, Rounding.UP_ALL, Rounding.UP_IF_AXIS_PADDED)
DIVISORS = (Divisor.REAL, Divisor.PADDED, Divisor.WHOLE, Divisor.BEGIN_PADDED)
OUTSIDES = (Outside.LOWEST, Outside.MINUS_INFINITY, Outside.ZERO)


def any_cut(axis: Axis, size: int, given: Given) -> AxisCrop:
    """Crop pads[0] cells, below 0 add some; the output has what extent says."""
    begin = given.pads[0] if given.pads else 0
    return AxisCrop(begin, given.extent or full_extent(axis, size) - begin)


WORDS: dict[str, dict[str, Any]] = {
    "kernel": {"role": "kernel"},
    "stride": {"role": "stride", "default": 1},
    "dilation": {"role": "dilation", "default": 1},
    "pads": {"role": "padding", "layouts": ["PAIRS"], "negative": True},
    "extent": {"role": "extent"},
    "divisor": {"role": "override"},
}


def layer(op: str, **more: Any) -> Layer:
    words = {name: word_of(name, record) for name, record in WORDS.items()}
    made = layer_of({"op": op, "words": list(WORDS)}, words, "made up for this test")
    number = Mode(cut=any_cut) if op == "conv_transpose" else EXPLICIT
    return made._replace(number=number, **more)


def cells(slide: Slide, window: int) -> list[int]:
    start = window * slide.stride - slide.begin
    return [start + tap * slide.dilation for tap in range(slide.kernel)]


def counted(slide: Slide, window: int, divisor: Divisor) -> int:
    begin, end = max(slide.begin, 0), max(slide.end, 0)
    low, high = {
        Divisor.REAL: (0, 0),
        Divisor.PADDED: (begin, end),
        Divisor.WHOLE: (10**6, 10**6),
        Divisor.BEGIN_PADDED: (begin, begin),
    }[divisor]
    return sum(-low <= cell < slide.size + high for cell in cells(slide, window))


def expected_pool(plan: WorkedOut, x: Any) -> Any:
    """One window after another, in float64."""
    sizes = [slide.output for slide in plan.slides]
    y: Any = np.zeros((*x.shape[:2], *sizes))
    both = (slice(None), slice(None))
    for place in product(*map(range, sizes)):
        lists = [cells(s, w) for s, w in zip(plan.slides, place, strict=True)]
        real = [
            [cell for cell in found if 0 <= cell < s.size]
            for s, found in zip(plan.slides, lists, strict=True)
        ]
        part = x[*both, *np.ix_(*real)].reshape(*x.shape[:2], -1)
        if plan.op == "max_pool":
            empty = {Outside.LOWEST: LOWEST, Outside.MINUS_INFINITY: -inf, Outside.ZERO: 0.0}
            y[*both, *place] = part.max(axis=2) if part.size else empty[plan.outside]
        else:
            pairs = zip(plan.slides, place, strict=True)
            number = prod(counted(slide, window, plan.divisor) for slide, window in pairs)
            y[*both, *place] = part.sum(axis=2) / number * plan.scale if number else 0.0
    return y


def expected_convolution(plan: WorkedOut, x: Any, weight: Any, bias: Any) -> Any:
    sizes = [slide.output for slide in plan.slides]
    y: Any = np.zeros((x.shape[0], weight.shape[0], *sizes)) + bias.reshape(
        1, -1, *[1] * len(sizes)
    )
    for place in product(*map(range, sizes)):
        for taps in product(*(range(slide.kernel) for slide in plan.slides)):
            at = [cells(s, w)[tap] for s, w, tap in zip(plan.slides, place, taps, strict=True)]
            if all(0 <= cell < s.size for cell, s in zip(at, plan.slides, strict=True)):
                term = np.einsum("nc,mc->nm", x[:, :, *at], weight[:, :, *taps])
                y[:, :, *place] += term
    return y


def drawn(op: str, random: Random) -> tuple[Layer, dict[str, Any], tuple[int, ...]]:
    rank = random.choice((1, 1, 2))
    sizes = tuple(random.randint(2, 7) for _ in range(rank))
    kernel = [random.randint(1, 4) for _ in range(rank)]
    words: dict[str, Any] = {
        "kernel": kernel,
        "stride": [random.randint(1, 4) for _ in range(rank)],
        "dilation": [random.choice((1, 1, 2)) for _ in range(rank)],
        "pads": [(random.randint(-2, 4), random.randint(-2, 4)) for _ in range(rank)],
    }
    more: dict[str, Any] = {"rounding": random.choice(ROUNDINGS)}
    if op == "max_pool":
        more["outside"] = random.choice(OUTSIDES)
    if op == "avg_pool":
        more |= {"divisor": random.choice(DIVISORS), "outside": Outside.ZERO}
        more["override"] = random.choice(list(Override))
        words["divisor"] = random.choice((None, None, 3))
    return layer(op, **more), words, sizes


@pytest.mark.parametrize("op", ["max_pool", "avg_pool", "conv"])
def test_nodes_compute_the_windows(op: str) -> None:
    random, generator = Random(1), np.random.default_rng(1)
    checked, forms, wrong = 0, set(), []
    for _ in range(150):
        made, words, sizes = drawn(op, random)
        x = generator.standard_normal((1, 2, *sizes)).astype(np.float32) - 2
        weight = bias = None
        if op == "conv":
            weight = generator.standard_normal((3, 2, *words["kernel"])).astype(np.float32)
            bias = generator.standard_normal(3).astype(np.float32)
        shape = None if weight is None else weight.shape
        try:
            plan = make_plan(made, op, x.shape, shape, words)
            steps = kept_apart(lower(plan))
        except RequestError:
            continue
        model = layer_model(steps, x.shape, weight=weight, bias=bias)
        if weight is None or bias is None:
            expected = expected_pool(plan, x)
        else:
            expected = expected_convolution(plan, x, weight, bias)
        checked += 1
        forms.add(tuple(step.op_type for step in steps))
        for optimised in (False, True):
            found = difference(run(model, x, optimised=optimised), expected)
            wrong += [(plan, steps, found)] if found > 1e-4 else []
    assert wrong == []
    assert checked > 70
    assert len(forms) >= (2 if op == "conv" else 6)


def test_nodes_compute_transposed_windows() -> None:
    random, generator = Random(2), np.random.default_rng(2)
    made, checked, wrong = layer("conv_transpose"), 0, []
    for _ in range(120):
        size, kernel, stride, dilation = (random.randint(1, most) for most in (6, 4, 4, 2))
        full = (size - 1) * stride + dilation * (kernel - 1) + 1
        begin, extent = random.randint(-2, 4), random.randint(1, full + 4)
        words: dict[str, Any] = {"stride": stride, "dilation": dilation, "extent": extent}
        words["pads"] = [(begin, 0)]
        x = generator.standard_normal((2, 2, size)).astype(np.float32)
        weight = generator.standard_normal((2, 3, kernel)).astype(np.float32)
        bias = random.choice((None, generator.standard_normal(3).astype(np.float32)))
        whole = np.zeros((2, 3, 2 + full + extent + 8))
        for place, tap in product(range(size), range(kernel)):
            term = np.einsum("nc,cm->nm", x[:, :, place], weight[:, :, tap])
            whole[:, :, 2 + place * stride + tap * dilation] += term
        expected = whole[:, :, 2 + begin : 2 + begin + extent]
        expected = expected if bias is None else expected + bias[:, None]
        try:
            steps = lower(make_plan(made, "conv_transpose", x.shape, weight.shape, words))
        except RequestError:
            assert begin >= full or begin + extent <= 0
            continue
        model = layer_model(steps, x.shape, weight=weight, bias=bias)
        found = difference(run(model, x), expected)
        wrong += [(words, size, kernel, steps, found)] if found > 1e-4 else []
        checked += 1
    assert wrong == []
    assert checked > 70


def test_nan_wins_where_empty_windows_of_two_axes_cross() -> None:
    """Caffe: 0/0 where the window ends at the border, and 0/-1 where it starts behind it."""
    made = layer(
        "avg_pool", rounding=Rounding.UP_ALL, divisor=Divisor.PADDED, outside=Outside.QUOTIENT
    )
    words = {"kernel": 1, "stride": [2, 3], "pads": [(0, 0), (0, 0)]}
    x = np.ones((1, 1, 4, 5), np.float32)
    plan = make_plan(made, "avg_pool", x.shape, None, words)
    y = run(layer_model(kept_apart(lower(plan)), x.shape), x)[0, 0]
    expected = np.array([[1, 1, 0], [1, 1, 0], [nan, nan, nan]])
    assert np.array_equal(y, expected, equal_nan=True)
