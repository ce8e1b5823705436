"""The lemmas, where one tries to break them."""

import numpy as np
import onnx
import pytest

from onnxpad.proof import proving, sizes
from onnxpad.proof.call import Notes, Readings
from onnxpad.proof.cuts import Cutting
from onnxpad.proof.proving import Limits, prove
from onnxpad.proof.regions import Mismatch, Region, Workshop, compare
from onnxpad.proof.sizes import Fact, Facts
from tests.proof.law import random_spec, rewrites
from tests.proof.small_models import text
from tests.random_models.building import build
from tests.random_models.feeding import stated


def proved_regions(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    dims: dict[str, int | str],
    monkeypatch: pytest.MonkeyPatch,
) -> list[tuple[Region, Facts, Workshop, int]]:
    """The regions with open sizes that a proof rests on, with the largest size that it took."""
    found = []
    original = sizes.prove_sizes

    def kept(
        region: Region, facts: Facts, shop: Workshop, most: int
    ) -> tuple[Mismatch | bool, int]:
        result = original(region, facts, shop, most)
        if result[0] is True and region.variables:
            limit = max(
                sizes.bound(sizes.bit_of(at), shop.notes, facts[name])
                for at, name in enumerate(region.variables)
            )
            found.append((region, dict(facts), shop, limit))
        return result

    monkeypatch.setattr(proving, "prove_sizes", kept)
    prove(before, after, dims=dims, limits=Limits(seconds=10))
    return found


def open_numbers() -> list[int]:
    return [number for number in range(60) if any(random_spec(number, 21).free)][:14]


@pytest.mark.parametrize("number", open_numbers())
def test_lemma_2_holds_at_three_times_the_bound(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = random_spec(number, 21)
    built = build(spec)
    rng = np.random.default_rng(number)
    for _, after in list(rewrites(spec, built))[:2]:
        for region, facts, shop, limit in proved_regions(
            built.model, after, stated(spec), monkeypatch
        ):
            shop.budget.cells, shop.clock.end, shop.clock.share = 10**8, np.inf, np.inf
            chosen = {}
            for name in region.variables:
                far = (
                    limit
                    if any(axis == name for cut in region.cuts for axis in cut.sizes[2:])
                    else 2
                )
                least = 3 * far + int(rng.integers(4))
                chosen[name] = next(one for one in facts[name].sizes() if one >= min(least, 60))
            assert not isinstance(compare(region, chosen, shop), Mismatch), f"{chosen}\n{spec!r}"


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation"), [(3, 2, 1), (2, 3, 1), (3, 3, 2), (5, 4, 1), (2, 4, 3)]
)
def test_lemma_2_sees_a_pad_that_is_wrong_at_one_remainder(
    kernel: int, stride: int, dilation: int
) -> None:
    """Pads of SAME for one remainder of the size are wrong at another, or right at all."""
    body = (
        "g (float[1,1,H] x) => (float[a,b,c] y) {{ y = LpPool<kernel_shape = [{k}], strides = [{s}],"
        " dilations = [{d}], {p}>(x) }}"
    )
    rest = {"k": kernel, "s": stride, "d": dilation}
    before = text(body.format(**rest, p='auto_pad = "SAME_UPPER"'))
    span = dilation * (kernel - 1) + 1
    for size in range(span, span + stride):
        total = max(0, (-(-size // stride) - 1) * stride + span - size)
        pads = f"pads = [{total // 2}, {total - total // 2}]"
        after = text(body.format(**rest, p=pads))
        right = all(
            max(0, (-(-n // stride) - 1) * stride + span - n) == total
            for n in range(span, span + stride)
        )
        verdict = prove(before, after).verdict
        assert verdict == "refuted" or right
        fact = f"%{stride}={size % stride}"
        assert prove(before, after, dims={"H": fact}).verdict == "proved"


def test_facts_give_their_sizes() -> None:
    sizes_of = Fact(4, 3, 5).sizes()
    assert [next(sizes_of) for _ in range(3)] == [7, 11, 15]


def test_lemma_7_a_cut_is_no_loose_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors of equal names whose values differ are never taken for cuts."""
    body = "g (float[1,1,8] x) => (float[a,b,c] y) {{ t = {0}(x)\ny = MaxPool<kernel_shape = [2], {1}>(t) }}"
    before = text(body.format("Relu", 'auto_pad = "VALID"'))
    assert prove(before, text(body.format("Relu", "pads = [0, 0]"))).verdict == "proved"
    assert prove(before, text(body.format("Abs", "pads = [0, 0]"))).verdict == "refuted"
    seen = []
    original = Cutting.regions

    def kept(self: Cutting, wanted: tuple[str, str], deepest: int):  # type: ignore[no-untyped-def]
        for region in original(self, wanted, deepest):
            seen.append([cut.names[0] for cut in region.cuts])
            yield region

    monkeypatch.setattr(Cutting, "regions", kept)
    prove(before, text(body.format("Abs", "pads = [0, 0]")))
    assert seen
    assert all("t" not in names for cuts in seen for names in cuts)


def test_notes_of_two_ways_are_not_added() -> None:
    notes = Notes()
    notes.window(1, 3, 2)
    notes.window(1, 3, 2)
    assert (notes.far[1], notes.period[1]) == (9, 4)
    notes.reach({1: 4}, {1: 3})
    assert (notes.far[1], notes.period[1]) == (9, 12)
    assert not notes.tied
    notes.window(3, 1)
    assert notes.tied == {3}


def test_readings_have_defaults() -> None:
    assert Readings() == Readings(valid_ceil_up=True, wide_reflect=False, legacy_split=False)
