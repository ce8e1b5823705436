"""What a model computes, by onnxruntime or by the tests' interpreter, and whether two agree."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import onnx

from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import outputs
from tests.random_models.deviations import deviates, every_node, is_known
from tests.random_models.drawing_fronts import INEXACT
from tests.random_models.feeding import Feed
from tests.random_models.graphs import Array
from tests.random_models.operators import data_channels
from tests.random_models.spec import Spec

Outputs = list[Array]
Result = Outputs | str
ROUNDING = 2.0**-24


def by_onnxruntime(
    model: onnx.ModelProto, feeds: Sequence[Feed], *, optimised: bool
) -> list[Result]:
    """The outputs for every feed, or what onnxruntime says against it."""
    return [outputs(model, feed, optimised=optimised) for feed in feeds]


def by_interpreter(model: onnx.ModelProto, feed: Feed) -> Result:
    """The outputs by the tests' interpreter, or why it has none."""
    try:
        found = run_model(model, feed)
    except (NotImplementedError, ValueError, TypeError, OverflowError, IndexError) as error:
        return f"interpreter: {error}"
    return [found[output.name] for output in model.graph.output]


@dataclass(frozen=True)
class Original:
    """The model before a rewrite with what it computes."""

    spec: Spec
    model: onnx.ModelProto
    feeds: Sequence[Feed]

    @cached_property
    def ran(self) -> list[Result]:
        return by_onnxruntime(self.model, self.feeds, optimised=False)

    @cached_property
    def deviates(self) -> bool:
        return deviates(self.model, self.spec.kernel)

    @cached_property
    def expected(self) -> list[Result]:
        """onnxruntime's outputs; the interpreter's where that deviates or refuses."""
        found = []
        for result, feed in zip(self.ran, self.feeds, strict=True):
            trusted = not self.deviates and not isinstance(result, str)
            found.append(result if trusted else by_interpreter(self.model, feed))
        return found

    @cached_property
    def survives(self) -> list[bool]:
        """Whether onnxruntime's own optimiser keeps what the original computes, for every feed."""
        optimised = by_onnxruntime(self.model, self.feeds, optimised=True)
        pairs = zip(optimised, self.expected, strict=True)
        return [difference(self.spec, *pair) is None for pair in pairs]

    @cached_property
    def inferred_wrongly(self) -> bool:
        """Whether shape inference says something of the outputs that no run agrees with.

        Before opset 22 it rounds pools with ceil_mode up too far, it misses that SAME of a
        transposed convolution takes in output_padding, and pads win against auto_pad. An
        output_shape that is smaller than the input leaves a shape of two axes.
        """
        if any(_rounds(node) for node in every_node(self.model)) and self.spec.opset < 22:
            return True
        if any(
            entry.name == "output_shape" for n in every_node(self.model) for entry in n.attribute
        ):
            return True
        inferred = onnx.shape_inference.infer_shapes(_without_sizes(self.model), data_prop=True)
        for result in self.expected:
            if not isinstance(result, str):
                pairs = zip(inferred.graph.output, result, strict=True)
                return any(_contradicts(info, value) for info, value in pairs)
        return True

    @property
    def judged(self) -> bool:
        return any(not isinstance(result, str) for result in self.expected)


def _without_sizes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without what is written about the sizes of its outputs."""
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for output in bare.graph.output:
        output.type.tensor_type.ClearField("shape")
    return bare


def _rounds(node: onnx.NodeProto) -> bool:
    return any(entry.name == "ceil_mode" and entry.i for entry in node.attribute)


def _contradicts(info: onnx.ValueInfoProto, value: Array) -> bool:
    dims = info.type.tensor_type.shape.dim
    if not info.type.tensor_type.HasField("shape"):
        return False
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
    return len(sizes) != value.ndim or any(
        size not in (None, held) for size, held in zip(sizes, value.shape, strict=True)
    )


def mismatch(original: Original, after: onnx.ModelProto) -> str | None:
    """How the rewritten model differs from the original, or None."""
    spec, feeds = original.spec, original.feeds
    if [o.name for o in after.graph.output] != [o.name for o in original.model.graph.output]:
        return "the outputs have other names"
    deviating = deviates(after, spec.kernel)
    expected = original.expected
    plain = by_onnxruntime(after, feeds, optimised=False)
    for number, (result, wanted, feed) in enumerate(zip(plain, expected, feeds, strict=True)):
        if isinstance(wanted, str):
            continue
        trusted = not deviating and not isinstance(result, str)
        if isinstance(result, str):
            ran_before = not isinstance(original.ran[number], str) and not original.deviates
            if ran_before and not is_known(result):
                return f"onnxruntime ran the original and says of the rewritten: {result}"
        found = result if trusted else by_interpreter(after, feed)
        if not isinstance(found, str) and (wrong := difference(spec, found, wanted)):
            who = "onnxruntime" if trusted else "the interpreter"
            return f"{wrong} (by {who}, {_sizes(feed)})"
    return None if deviating else _optimised_mismatch(original, after, plain)


def _optimised_mismatch(
    original: Original, after: onnx.ModelProto, plain: list[Result]
) -> str | None:
    optimised = by_onnxruntime(after, original.feeds, optimised=True)
    for number, (result, wanted) in enumerate(zip(optimised, original.expected, strict=True)):
        if isinstance(wanted, str) or isinstance(plain[number], str):
            continue
        wrong = difference(original.spec, result, wanted)
        known = isinstance(result, str) and is_known(result)
        if wrong and not known and original.survives[number]:
            return f"with onnxruntime's optimisations: {wrong} ({_sizes(original.feeds[number])})"
    return None


def _sizes(feed: Feed) -> str:
    return ", ".join(f"{name} {list(value.shape)}" for name, value in feed.items())


def difference(spec: Spec, found: Result, wanted: Result) -> str | None:
    """What differs between two results; -inf and the lowest finite float are one value."""
    if isinstance(found, str) or isinstance(wanted, str):
        return f"no result: {found if isinstance(found, str) else wanted}"
    for index, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"{one.dtype}{list(one.shape)} instead of {other.dtype}{list(other.shape)}"
        if spec.indices and index == 1:
            one, other = _indices_of_numbers(found), _indices_of_numbers(wanted)  # noqa: PLW2901
        allowed = tolerance(spec, one.dtype)
        if not np.array_equal(one, other) and not _close(one, other, allowed):
            return f"{one.ravel()[:12].tolist()} instead of {other.ravel()[:12].tolist()}"
    return None


def _indices_of_numbers(outputs: Outputs) -> Array:
    """Indices of a max pool; those of windows that hold -inf alone mean nothing (split-pads)."""
    values, indices = outputs[:2]
    lowest = values <= np.finfo(values.dtype).min if values.dtype.kind == "f" else False
    return np.where(lowest, -1, indices)


def _close(one: Array, other: Array, allowed: float) -> bool:
    if one.dtype.kind != "f":
        return bool(np.abs(one.astype(np.int64) - other).max(initial=0) <= allowed)
    floor = np.finfo(one.dtype).min
    near = np.isclose(
        np.maximum(one, floor), np.maximum(other, floor), rtol=0, atol=allowed, equal_nan=True
    )
    return bool(near.all())


def tolerance(spec: Spec, dtype: np.dtype[Any]) -> float:
    """0 where whole numbers make the arithmetic exact, else 2 gamma_K S with a bound of S.

    Means of QLinearAveragePool are float32, whose ties may fall to either side.
    """
    row = spec.operator
    if dtype.kind != "f":
        return 1.0 if row.op == "QLinearAveragePool" else 0.0
    inexact = any(step.op in INEXACT for step in spec.front)
    pooled = row.family in ("average", "lp")
    if not inexact and not pooled:
        return 0.0
    terms = math.prod(spec.kernel) * (1 if pooled else data_channels(spec))
    largest = 40.0 * (terms if row.family == "lp" else 1) if pooled else 15.0 * terms
    return 2 * (terms + 16) * ROUNDING * largest
