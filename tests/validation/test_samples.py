import numpy as np

from tests.proof.small_models import text
from tests.validation.builders import W1, model, node
from tests.validation.runs import validate


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


def test_a_model_that_always_overflows_is_tried_a_few_times_only() -> None:
    huge = model([node("Mul", ["x", "k"], ["y"])], {"k": np.array(1e38, np.float32)})
    report = validate(huge, huge, device="cpu")
    assert report.verdict == "identical"
    assert ["no better sizes" in one for one in report.warnings] == [True]
    assert max(max(shapes["x"]) for shapes in report.input_shapes) < 64
