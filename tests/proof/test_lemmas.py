"""The lemmas, where one tries to break them."""

from dataclasses import replace

import numpy as np
import pytest

from onnxpad.proof import Limits, prove
from onnxpad.proof.endings import NoResult
from onnxpad.proof.windows import Axis, same_pads
from tests.proof.law import random_spec, rewrites
from tests.proof.small_models import text
from tests.random_models.building import build
from tests.random_models.feeding import data, sizes_of, stated


def open_numbers() -> list[int]:
    return [number for number in range(60) if any(random_spec(number, 21).free)][:14:3]


@pytest.mark.part(2)
@pytest.mark.parametrize("number", open_numbers())
def test_what_is_proved_for_all_sizes_is_right_at_large_ones(number: int) -> None:
    spec = random_spec(number, 21)
    built = build(spec)
    larger = replace(spec, spatial=tuple(3 * size + 30 for size in spec.spatial))
    sizes = next(sizes_of(larger))
    shape = data(np.random.default_rng(number), spec, sizes, spec.batch).shape
    axes = built.model.graph.input[0].type.tensor_type.shape.dim
    pairs = zip(axes, shape, strict=True)
    at: dict[str, int | str] = {axis.dim_param: size for axis, size in pairs if axis.dim_param}
    for _, after in list(rewrites(spec, built))[:2]:
        if prove(built.model, after, dims=stated(spec)).verdict == "proved":
            found = prove(built.model, after, dims=at, limits=Limits(seconds=5))
            assert found.verdict != "refuted", f"{at}\n{spec!r}"


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation"), [(3, 2, 1), (2, 3, 1), (3, 3, 2), (5, 4, 1), (2, 4, 3)]
)
def test_lemma_2_sees_a_pad_that_is_wrong_at_one_remainder(
    kernel: int, stride: int, dilation: int
) -> None:
    """Pads of SAME for one remainder of the size are wrong at another, or right at all."""
    body = (
        "g (float[1,1,H] x) => (float[a,b,c] y) {{ y = LpPool<kernel_shape = [{k}],"
        " strides = [{s}], dilations = [{d}], {p}>(x) }}"
    )
    rest = {"k": kernel, "s": stride, "d": dilation}
    before = text(body.format(**rest, p='auto_pad = "SAME_UPPER"'))
    span = dilation * (kernel - 1) + 1
    for size in range(span, span + stride):
        total = max(0, (-(-size // stride) - 1) * stride + span - size)
        pads = f"pads = [{total // 2}, {total - total // 2}]"
        after = text(body.format(**rest, p=pads))
        right = all(_alike(n, (kernel, stride, dilation), total) for n in range(1, 40))
        verdict = prove(before, after).verdict
        assert verdict == "refuted" or right
        fact = f"%{stride}={size % stride}"
        assert prove(before, after, dims={"H": fact}).verdict == "proved"


def _alike(size: int, window: tuple[int, int, int], total: int) -> bool:
    """Whether pads of this total read the same cells as SAME does."""
    span = window[2] * (window[0] - 1) + 1
    pads = same_pads(size, span, window[1], lower=False), (total // 2, total - total // 2)
    first, second = (Axis(size, *window, *pad) for pad in pads)
    try:
        return np.array_equal(first.table(), second.table())
    except NoResult:
        return False
