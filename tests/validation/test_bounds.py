"""Bounds must be wide enough for rounding and too narrow for anything else."""

import numpy as np
from onnx import ModelProto

from onnxpad.model.comparing import pieces
from onnxpad.model.comparing.networks import Network
from onnxpad.proof.alone import computed
from onnxpad.sessions import RunFailure, Settings
from onnxpad.validation import Verdict
from onnxpad.validation.bench import Bench
from tests.validation.builders import RANDOM, Array, model, node, renamed, zero_extended
from tests.validation.runs import validate

LAYERS = 6
W = (RANDOM.standard_normal((8, 8, 3, 3)) / 8).astype(np.float32)
B = RANDOM.standard_normal(8).astype(np.float32)
X = RANDOM.standard_normal((1, 8, 20, 20)).astype(np.float32)


def deep(w: Array, pads: list[int], bias: Array = B) -> ModelProto:
    nodes = []
    source = "x"
    for layer in range(LAYERS):
        conv = [source, "W0" if layer == 0 else "W", "B0" if layer == 0 else "B"]
        places = pads if layer == 0 else [1, 1, 1, 1]
        nodes.append(node("Conv", conv, [f"c{layer}"], name=f"c{layer}", pads=places))
        nodes.append(node("Relu", [f"c{layer}"], [f"r{layer}"]))
        source = f"r{layer}"
    return model(nodes, {"W": W, "W0": w, "B": B, "B0": bias}, shape=[1, 8, "H", "W"])


def test_many_layers_at_once_are_held_to_the_measured_effect_of_rounding() -> None:
    before = deep(W, [1, 1, 2, 2])
    extended = zero_extended(W)
    right = validate(before, renamed(deep(extended, [2, 2, 2, 2])), device="cpu", samples=2)
    assert right.ok, right.reason
    moved = B + np.float32(1e-3)
    wrong = validate(before, renamed(deep(extended, [2, 2, 2, 2], moved)), device="cpu", samples=2)
    assert wrong.verdict is Verdict.DIFFERENT


def test_noise_covers_float32_and_is_small() -> None:
    bench, network = Bench(Settings()), Network(deep(W, [1, 1, 1, 1]))
    clean = bench.run(network, {"x": X})
    assert not isinstance(clean, RunFailure)
    bound = bench.noise(network, {"x": X}, clean)
    assert bound is not None
    (value,) = clean.values()
    (limit,) = bound.values()
    assert limit.shape == (1, 8, 1, 1)
    assert (limit < 1e-5 * np.abs(value).max()).all()
    (other,) = exact_float64(X)
    assert (np.abs(other - value) <= limit).all()


def exact_float64(x: Array) -> list[Array]:
    value = x.astype(np.float64)
    operands = W.astype(np.float64), B.astype(np.float64)
    for _ in range(LAYERS):
        (made,) = computed("Conv", "", 22, {"pads": [1, 1, 1, 1]}, [value, *operands])
        value = np.maximum(made, 0)
    return [value]


def chaotic(w: Array, pads: list[int]) -> ModelProto:
    nodes = [
        node("Conv", ["x", "W"], ["c"], name="c1", pads=pads),
        node("Mul", ["c", "large"], ["m"]),
        node("Sin", ["m"], ["y"]),
    ]
    return model(nodes, {"W": w, "large": np.array(1e7, np.float32)}, shape=[1, 8, "H", "W"])


def test_where_rounding_alone_changes_everything_nothing_is_promised() -> None:
    wide = (RANDOM.standard_normal((8, 8, 5, 5))).astype(np.float32)
    before = chaotic(wide, [1, 1, 2, 2])
    report = validate(before, renamed(chaotic(zero_extended(wide), [2] * 4)), device="cpu")
    assert report.verdict in (Verdict.UNVERIFIED, Verdict.IDENTICAL)
    reference = np.zeros((1, 8, 19, 19), np.float32)
    given = validate(before, inputs={"x": X}, outputs={"y": reference}, device="cpu")
    assert given.verdict is Verdict.UNVERIFIED
    assert "too much to see padding" in given.reason


def test_new_names_that_are_taken_make_way() -> None:
    nodes = [node("Relu", ["x"], ["out"]), node("Neg", ["out"], ["y"])]
    proto = model(nodes, {})
    changed = pieces.renamed(Network(proto), {"y": "out"})
    assert changed.outputs == ("out",)
    result = Bench(Settings()).run(changed, {"x": X[:, :3]})
    assert not isinstance(result, RunFailure)
    assert np.array_equal(result["out"], -np.maximum(X[:, :3], 0))


def columns(factor: float, more: float, prefix: str = "") -> ModelProto:
    """A product with one column of 1e4, then steps whose bounds nobody knows beforehand."""
    w = RANDOM_COLUMNS.copy()
    w[:, 0] *= 1e4
    w[:, 5] *= factor
    constants = {f"{prefix}W": w, f"{prefix}one": np.array(1 + more, np.float32)}
    nodes = [node("MatMul", ["x", f"{prefix}W"], [f"{prefix}m"])]
    for step in range(6):
        source = f"{prefix}m" if step == 0 else f"{prefix}s{step - 1}"
        nodes.append(node("Mul", [source, f"{prefix}one"], [f"{prefix}s{step}"]))
    nodes.append(node("Elu", [f"{prefix}s5"], ["y"]))
    return model(nodes, constants, shape=[1, 64])


RANDOM_COLUMNS = np.random.default_rng(3).standard_normal((64, 10)).astype(np.float32)


def test_a_small_column_beside_a_large_one_has_its_own_bound() -> None:
    right = validate(columns(1.0, 0.0), columns(1.0, 2.4e-7, "q_"), device="cpu")
    assert right.verdict is Verdict.ROUNDING
    wrong = validate(columns(1.0, 0.0), columns(1.05, 2.4e-7, "q_"), device="cpu")
    assert wrong.verdict is Verdict.DIFFERENT


def shifted(offset: float) -> ModelProto:
    """The same function, computed of x + offset."""
    bias = (-offset * SHIFTED.astype(np.float64).sum((1, 2, 3))).astype(np.float32)
    nodes = [node("Add", ["x", "k"], ["a"])] if offset else []
    nodes += [node("Conv", ["a" if offset else "x", "W", "B"], ["c"], name="c1")]
    nodes += [node("Relu", ["c"], ["y"])]
    return model(nodes, {"W": SHIFTED, "B": bias, "k": np.array(offset, np.float32)})


SHIFTED = np.random.default_rng(4).standard_normal((8, 3, 3, 3)).astype(np.float32)


def test_each_model_rounds_by_its_own_numbers() -> None:
    assert validate(shifted(0), shifted(1000), device="cpu").verdict is Verdict.ROUNDING
    assert validate(shifted(1000), shifted(0), device="cpu").verdict is Verdict.ROUNDING
