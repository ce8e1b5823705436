"""Every text case: the answer, its numbers by the oracle and by onnxruntime, a second run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from onnxpad import Rewriting
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran
from tests.rewriting.text_cases import FOLDER, TextCase, answer_of, cases_in

Feed = dict[str, NDArray[Any]]
FILES = sorted(FOLDER.glob("*.txt"))
CASES = [case for path in FILES for case in cases_in(path)]
SIZES = (7, 8, 12, 3, 32)
"""What open dimensions may be; the first with which the model has a result is taken."""


def feeds(model: onnx.ModelProto, facts: Mapping[str, Any]) -> Iterator[Feed]:
    """Signed inputs for a model, with one size after the other where a size is open."""
    stored = {tensor.name for tensor in model.graph.initializer}
    for size in SIZES:
        rng = np.random.default_rng(size)
        feed = {}
        for value in model.graph.input:
            kind = value.type.tensor_type
            dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
            shape = [_size(value.name, n, dim, size, facts) for n, dim in enumerate(kind.shape.dim)]
            if value.name not in stored:
                feed[value.name] = drawn(rng, shape, dtype)
        yield feed


def drawn(rng: np.random.Generator, shape: list[int], dtype: Any) -> NDArray[Any]:
    """Whole numbers, which floats add up exactly; small ones where they may be numbers of pads."""
    low, high = (0, 2) if dtype == np.int64 else (0, 200) if dtype == np.uint8 else (-9, 10)
    return np.asarray(rng.integers(low, high, shape)).astype(dtype)


def _size(name: str, axis: int, dim: Any, size: int, facts: Mapping[str, Any]) -> int:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    fact = facts.get(dim.dim_param, facts.get(f"{name}[{axis}]", size))
    if isinstance(fact, int):
        return fact
    divisor, remainder = (int(number) for number in re.findall(r"\d+", fact))
    return divisor * size + remainder


def results(model: onnx.ModelProto, feed: Feed) -> list[NDArray[Any]]:
    return list(run_model(model, feed).values())


def fitting_feed(case: TextCase) -> tuple[Feed, list[NDArray[Any]]] | None:
    """Inputs that the oracle runs the model on, and its results; None where there are none."""
    for feed in feeds(case.model, case.options.get("dims") or {}):
        try:
            return feed, results(case.model, feed)
        except (ValueError, TypeError, NotImplementedError, IndexError, KeyError):
            continue
    return None


def same(ones: list[NDArray[Any]], others: list[NDArray[Any]]) -> bool:
    return all(
        one.shape == other.shape
        and one.dtype == other.dtype
        and np.allclose(one, other, rtol=2e-6, atol=1e-6, equal_nan=True)
        for one, other in zip(ones, others, strict=True)
    )


def assert_same_numbers(before: onnx.ModelProto, after: onnx.ModelProto, feed: Feed) -> None:
    """The same by the oracle; where onnxruntime ran it right before, so it does after."""
    expected = results(before, feed)
    assert same(results(after, feed), expected), "the oracle computes something else"
    for optimised in (False, True):
        was, now = (ran(model, feed, optimised=optimised) for model in (before, after))
        if not isinstance(was, str) and same([was], expected[:1]):
            assert not isinstance(now, str), now
            assert same([now], expected[:1]), f"onnxruntime, optimised: {optimised}"


def again(case: TextCase, after: onnx.ModelProto) -> Rewriting:
    """A second run, with those of the given sizes that the model does not hold itself by now."""
    kinds = [value.type.tensor_type for value in after.graph.input]
    held = {dim.dim_param for kind in kinds for dim in kind.shape.dim}
    dims = {name: size for name, size in case.options.get("dims", {}).items() if name in held}
    return replace(case, options=case.options | {"dims": dims}).rewritten(after)


def is_valid(model: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest) -> Iterator[dict[tuple[str, str], str]]:
    """Answers by file and name; written into the files behind the last case with --record."""
    found: dict[tuple[str, str], str] = {}
    yield found
    if request.config.getoption("--record"):
        for path in FILES:
            own = cases_in(path)
            blocks = [one.block(found.get((path.stem, one.name), one.answer)) for one in own]
            path.write_text("\n".join(blocks), encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.stem}: {case.name}")
def test_a_case(
    case: TextCase, answers: dict[tuple[str, str], str], request: pytest.FixtureRequest
) -> None:
    model = case.model
    done = case.rewritten(model)
    is_read_anew = case.options.get("legacy_split", False)  # as the oracle reads no model
    ran_on = fitting_feed(case) if done.changed and not is_read_anew else None
    answer = answers[case.path.stem, case.name] = answer_of(done, runs=ran_on is not None)
    assert model == case.model, "the model of the caller is changed"
    if done.changed:
        after = done.model
        assert isinstance(after, onnx.ModelProto)
        assert is_valid(after) or not is_valid(model)
        if len(case.options.get("passes", ())) < 2:
            assert not again(case, after).changed, "a second run changes it again"
        if ran_on is not None:
            assert_same_numbers(model, after, ran_on[0])
    if not request.config.getoption("--record"):
        assert answer == case.answer


def test_names_are_unique() -> None:
    names = [(case.path.stem, case.name) for case in CASES]
    assert len(set(names)) == len(names) > 0
