import numpy as np
import pytest

from onnxpad.errors import RequestError
from onnxpad.geometry.size import Symbol
from onnxpad.model.graph.types import Type
from onnxpad.probing.random_inputs import Sampler
from tests.proof.small_models import text
from tests.validation.builders import W1, model, node
from tests.validation.runs import validate

H, W = Symbol("H"), Symbol("W", 32, 8)


def test_sizes_are_odd_and_even_and_keep_what_is_known() -> None:
    sampler = Sampler({"x": Type("float32", (Symbol("N"), 3, H, W))}, 0)
    draw = next(iter(sampler.draws()))
    shapes = [sampler.sample(index, draw)["x"].shape for index in range(3)]
    assert {shape[2] % 2 for shape in shapes} == {0, 1}
    assert {shape[3] % 32 for shape in shapes} == {8}
    assert {shape[0] for shape in shapes} == {1, 2}
    assert all(shape[2] != shape[3] for shape in shapes)


def test_one_name_has_one_size() -> None:
    types = {"a": Type("float32", (1, 3, H, H)), "b": Type("float32", (1, 1, H, 4))}
    sampler = Sampler(types, 0)
    feeds = sampler.sample(0, next(iter(sampler.draws())))
    assert feeds["a"].shape[2] == feeds["a"].shape[3] == feeds["b"].shape[2]


def test_values_are_signed_and_one_sample_has_no_positive_one() -> None:
    sampler = Sampler({"x": Type("float32", (1, 3, 8, 8))}, 5)
    draw = next(iter(sampler.draws()))
    first, second = (sampler.sample(index, draw)["x"] for index in (0, 1))
    assert first.min() < 0 < first.max()
    assert second.max() < 0
    assert np.array_equal(
        first, Sampler({"x": Type("float32", (1, 3, 8, 8))}, 5).sample(0, draw)["x"]
    )


def test_integers_fill_their_type() -> None:
    sampler = Sampler({"x": Type("int8", (64, 64)), "b": Type("bool", (64,))}, 0)
    feeds = sampler.sample(0, next(iter(sampler.draws())))
    assert feeds["x"].min() < -100
    assert feeds["x"].max() > 100
    assert set(feeds["b"].tolist()) == {True, False}


@pytest.mark.parametrize("type_", [Type("string", (3,)), Type("", (3,)), Type("float32", None)])
def test_inputs_that_random_numbers_cannot_fill(type_: Type) -> None:
    with pytest.raises(RequestError, match="input 'x'"):
        Sampler({"x": type_}, 0)


def test_sizes_that_the_model_refuses_are_replaced() -> None:
    nodes = [
        node("Conv", ["x", "W"], ["c"], name="c", pads=[1, 1, 1, 1]),
        node("DepthToSpace", ["c"], ["d"], blocksize=2),
        node("SpaceToDepth", ["x"], ["s"], blocksize=8),
        node("Identity", ["d"], ["y"]),
    ]
    blocky = model(nodes, {"W": W1})
    report = validate(blocky, blocky, device="cpu")
    assert report.ok
    assert all(size % 8 == 0 for shapes in report.input_shapes for size in shapes["x"][2:])


def test_the_first_axis_may_be_one_of_an_image() -> None:
    head = "g (float[H,W,1] x) => (float[a,b,c,d] y) <int64[1] first = {0}>"
    steps = "s = Unsqueeze(x, first) t = Transpose<perm = [0, 3, 1, 2]>(s)"
    pooled = text(f"{head} {{ {steps} y = MaxPool<kernel_shape = [9, 9]>(t) }}")
    report = validate(pooled, pooled, device="cpu")
    assert not report.warnings
    assert all(shapes["x"][0] > 8 for shapes in report.input_shapes)


def test_indices_that_must_stay_small() -> None:
    table = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
    gather = model(
        [node("Gather", ["table", "x"], ["y"])], {"table": table}, shape=["N", 7], dtype=7, out=1
    )
    report = validate(gather, gather, device="cpu")
    assert report.verdict == "identical"
    assert not any("does not run" in warning for warning in report.warnings)


def test_a_model_that_always_overflows_is_tried_a_few_times_only() -> None:
    huge = model([node("Mul", ["x", "k"], ["y"])], {"k": np.array(1e38, np.float32)})
    report = validate(huge, huge, device="cpu")
    assert report.verdict == "identical"
    assert ["no better sizes" in one for one in report.warnings] == [True]
    assert max(max(shapes["x"]) for shapes in report.input_shapes) < 64
