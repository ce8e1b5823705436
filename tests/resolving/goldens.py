"""Golden vectors: layers in their framework's words, and what the framework gave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from onnxpad import Resolution, resolve
from tests.oracle.onnxruntime_levels import ran

Array = NDArray[Any]
SAMPLE = Path(__file__).parents[1] / "goldens" / "sample.json"
ALL = Path(__file__).resolve().parents[3] / "shared" / "goldens"
# Largest absolute difference that is rounding: sums of up to 500 terms around 1.
ALLOWED = 2e-4


@dataclass(frozen=True)
class Golden:
    """One layer with its arrays; `weight` and `bias` are None where it has none."""

    record: dict[str, Any]
    x: Array
    weight: Array | None
    bias: Array | None
    y: Array

    def resolved(self) -> Resolution:
        return resolve(
            self.record["framework"],
            self.record["op"],
            input_shape=self.record["input_shape"],
            weight_shape=self.record["weight_shape"],
            **self.record["attributes"],
        )

    def computed(self, *, optimised: bool) -> Array:
        model = self.resolved().to_model(self.weight, self.bias)
        return run(model, self.x, optimised=optimised)


def run(model: onnx.ModelProto, x: Array, *, optimised: bool = False) -> Array:
    """The output of a model with one input, by onnxruntime on the CPU."""
    y = ran(model, {"x": x}, optimised=optimised)
    if isinstance(y, str):
        raise ValueError(y)  # noqa: TRY004 - it is what onnxruntime says
    return y


def goldens(path: Path) -> Iterator[Golden]:
    """The goldens of one JSON file and the NPZ file beside it."""
    with np.load(path.with_suffix(".npz")) as arrays:
        for record in json.loads(path.read_text(encoding="utf-8")):
            named = {
                name: arrays[key] if (key := f"{record['id']}/{name}") in arrays else None
                for name in ("input", "weight", "bias", "output")
            }
            x, y = named["input"], named["output"]
            assert x is not None
            assert y is not None
            yield Golden(record, x, named["weight"], named["bias"], y)


def difference(y: Array, expected: Array) -> float:
    """The largest difference of finite cells; infinite where others or the shapes differ."""
    if y.shape != expected.shape:
        return float("inf")
    finite = np.isfinite(expected)
    if not np.array_equal(y[~finite], expected[~finite], equal_nan=True):
        return float("inf")
    if not np.isfinite(y[finite]).all():
        return float("inf")
    return float(np.abs(y[finite].astype(np.float64) - expected[finite]).max(initial=0.0))
