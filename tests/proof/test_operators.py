"""The rules of operators against the oracle, onnx's reference, and whole numbers."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from onnxpad.proof.call import Budget, Value
from onnxpad.proof.domain import Domain
from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.evaluation import Evaluation
from onnxpad.proof.field import Field
from onnxpad.proof.floats import Numeric
from onnxpad.proof.formal import Formal
from onnxpad.proof.graphs import read
from onnxpad.proof.sized import Notes
from tests.oracle.interpreter import run_model
from tests.proof.law import random_spec
from tests.proof.small_models import Array, one_node, signed
from tests.random_models.building import build
from tests.random_models.feeding import Feed, feeds


def evaluated(model: onnx.ModelProto, feed: Feed, d: Domain) -> list[Value]:
    """The model's outputs in a domain, for numbers as inputs."""
    graph = read(model)
    run = Evaluation(d, Notes(), Budget(10**8), {0: False, 1: True})
    given = {name: run.constant(constant) for name, constant in graph.defaults.items()}
    for name, array in feed.items():
        known = array.dtype == np.int64 or array.dtype.kind == "b"
        given[name] = Value(array if known else d.embed(array), array.dtype, known=known)
    return run.run(graph, given, graph.outputs)


def as_numbers(values: list[Value]) -> list[Array]:
    return [value.cells.astype(np.float64) for value in values]


def near(first: Array, second: Array) -> bool:
    left, right = (np.where(x <= -3.4e38, -np.inf, x.astype(np.float64)) for x in (first, second))
    room = 1e-5 * max(1.0, float(np.abs(right[np.isfinite(right)]).max(initial=0)))
    with np.errstate(invalid="ignore"):
        return left.shape == right.shape and bool(
            ((left == right) | (np.abs(left - right) <= room)).all()
        )


@pytest.mark.parametrize("number", range(0, 81, 3))
def test_random_models_compute_as_the_oracle_says(number: int) -> None:
    spec = random_spec(number, 5)
    built = build(spec)
    for feed in feeds(spec, built)[:2]:
        try:
            wanted = run_model(built.model, feed)
        except ValueError:
            with pytest.raises((NoResult, Undecided)):
                evaluated(built.model, feed, Numeric({}))
            continue
        except NotImplementedError as missing:
            pytest.skip(f"the tests' interpreter: {missing}")
        if spec.place in ("loop", "loop carried", "scan"):
            pytest.skip("the kernel compares bodies of loops, and runs none")
        made = evaluated(built.model, feed, Numeric({}))
        for (name, one), value in zip(wanted.items(), made, strict=True):
            assert value.dtype == one.dtype, name
            assert near(value.cells, one), f"{name}\n{spec!r}"


CASES: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("Slice", [signed(5, 6), np.array([1, -3]), np.array([-1, 99])], {}, 13),
    ("Slice", [signed(5, 6), *map(np.array, ([4], [-99], [1], [-2]))], {}, 13),
    ("Slice", [signed(5)], {"starts": [1], "ends": [-1]}, 9),
    ("Concat", [signed(2, 3), signed(2, 1, seed=1)], {"axis": -1}, 13),
    ("Split", [signed(5, 2), np.array([2, 3])], {"axis": 0}, 13),
    ("Transpose", [signed(2, 3, 4)], {"perm": [2, 0, 1]}, 13),
    ("Transpose", [signed(2, 3)], {}, 13),
    ("Reshape", [signed(2, 3, 4), np.array([0, -1])], {}, 13),
    ("Flatten", [signed(2, 3, 4)], {"axis": -1}, 13),
    ("Squeeze", [signed(1, 3, 1), np.array([-1])], {}, 13),
    ("Squeeze", [signed(1, 3, 1)], {}, 13),
    ("Unsqueeze", [signed(3, 2), np.array([0, -1])], {}, 13),
    ("Expand", [signed(3, 1), np.array([2, 1, 4])], {}, 13),
    ("Gather", [signed(4, 3), np.array([[0, -1], [2, 2]])], {"axis": 0}, 13),
    ("Pad", [signed(3, 4), np.array([1, 2, 0, 1])], {"mode": "edge"}, 13),
    ("Pad", [signed(3, 4), np.array([1, 2, 0, 1])], {"mode": "reflect"}, 13),
    ("Pad", [signed(3, 4), np.array([1, 5, 0, 2])], {"mode": "wrap"}, 19),
    ("Pad", [signed(3, 4), np.array([2, 1]), np.float32(7), np.array([1])], {}, 18),
    ("Conv", [signed(1, 2, 5, 6), signed(4, 1, 3, 2, seed=1)], {"group": 2, "strides": [2, 1]}, 13),
    ("Conv", [signed(1, 1, 5), signed(2, 1, 2, seed=1), signed(2, seed=2)], {"pads": [0, 2]}, 13),
    ("MatMul", [signed(2, 3, 4), signed(4, 5, seed=1)], {}, 13),
    ("Gemm", [signed(3, 2), signed(4, 3, seed=1), signed(4, seed=2)],
     {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}, 13),
    ("BatchNormalization", [signed(2, 3, 4), *(np.abs(signed(3, seed=s)) + 1 for s in range(4))],
     {"epsilon": 0.25}, 15),
    ("ReduceMean", [signed(2, 3, 4)], {"axes": [1, -1], "keepdims": 0}, 13),
    ("ReduceSum", [signed(2, 3), np.array([1])], {}, 13),
    ("ReduceMax", [signed(2, 3)], {}, 13),
    ("ReduceL2", [signed(2, 3)], {"axes": [0]}, 13),
    ("GlobalAveragePool", [signed(1, 2, 3, 3)], {}, 13),
    ("GlobalMaxPool", [signed(1, 2, 3, 3)], {}, 13),
    ("Clip", [signed(9), np.float32(-2), np.float32(3)], {}, 13),
    ("Clip", [signed(9)], {"min": -2.0}, 6),
    ("PRelu", [signed(2, 3), signed(3, seed=1)], {}, 13),
    ("Where", [signed(3) > 0, signed(3), signed(3, seed=1)], {}, 13),
    ("Div", [signed(4), np.array([1, 2, 4, -8], np.float32)], {}, 13),
    ("Pow", [signed(4), np.float32(3)], {}, 13),
    ("Pow", [np.abs(signed(4)), np.float32(0.5)], {}, 13),
    ("Max", [signed(4), signed(4, seed=1), signed(1, seed=2)], {}, 13),
    ("Min", [signed(4), signed(4, seed=1)], {}, 13),
    ("Sum", [signed(4), signed(4, seed=1), signed(4, seed=2)], {}, 13),
    ("Mean", [signed(4), signed(4, seed=1)], {}, 13),
    ("QuantizeLinear",
     [signed(2, 3) / 2 + np.float32(0.1), abs(signed(3)) + 1, np.array([3, 0, 9], np.uint8)],
     {"axis": 1}, 13),
    ("DequantizeLinear", [np.array([[1, -7, 3]], np.int8), np.float32(0.5), np.int8(-2)], {}, 19),
    ("Col2Im", [signed(1, 8, 9), np.array([4, 4]), np.array([2, 2])], {}, 18),
    ("Col2Im", [signed(1, 4, 6), np.array([4, 3]), np.array([2, 2])],
     {"pads": [0, 1, 0, 1], "strides": [2, 1], "dilations": [1, 2]}, 18),
    *((op, [signed(3, 3) / 4 + np.float32(0.1)], {}, 22) for op in ("Floor", "Ceil", "Round")),
    *((op, [signed(3, 3) / 4], {}, 22) for op in (
        "Abs", "Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Sign", "Softplus", "Softsign", "Erf",
        "Elu", "Selu", "Celu", "HardSigmoid", "HardSwish", "LeakyRelu", "ThresholdedRelu", "Mish",
        "Gelu",
        "Sin", "Cos", "Atan", "Sinh", "Cosh", "Identity", "Shrink",
    )),
]  # fmt: skip


EXACT = {
    *("Slice", "Concat", "Transpose", "Reshape", "Conv", "MatMul", "Gemm", "ReduceSum", "Pad"),
    *("Clip", "Max", "Min", "Relu", "Sum", "QuantizeLinear", "DequantizeLinear", "Col2Im"),
    *("Div", "ReduceMax", "GlobalMaxPool", "Abs", "Neg", "Floor"),
}


@pytest.mark.parametrize("number", range(len(CASES)))
def test_plain_operators_compute_as_the_reference_does(number: int) -> None:
    """Where a result is a number for certain, the formal domain has that number."""
    op, inputs, attributes, opset = CASES[number]
    model, feed = one_node(op, inputs, attributes, opset, 2 if op == "Split" else 1)
    d = Formal(Field())
    formal, made = evaluated(model, feed, d), as_numbers(evaluated(model, feed, Numeric({})))
    wanted = ReferenceEvaluator(model).run(None, feed)
    for value, one, other in zip(formal, made, wanted, strict=True):
        assert near(one, np.asarray(other)), op
        cells = d.embed(value.cells) if value.known else value.cells
        assert value.shape == one.shape
        assert op not in EXACT or (cells == d.embed(one)).all(), op
