"""Latency on onnxruntime's CPU provider of what passes write, against explicit pads.

    python -m tools.benchmarks.latency MODEL PASS

Prints the ratio of the medians of CPU time, both sessions on one thread and run in turn.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import numpy as np
import onnxruntime
from onnx import ModelProto

from onnxpad.rewriting.rewrite import rewrite

RUNS = 15


def session(path: str, rule: str) -> onnxruntime.InferenceSession:
    """The model as one pass leaves it, opened with default optimisations."""
    model = rewrite(path, passes=["explicit-pads", rule]).model
    assert isinstance(model, ModelProto)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def seconds(one: onnxruntime.InferenceSession, x: np.ndarray) -> float:
    """CPU time of one run."""
    start = time.process_time()
    one.run(None, {"x": x})
    return time.process_time() - start


def main() -> None:
    """Measure one pass on one model."""
    path, rule = sys.argv[1:]
    plain, other = session(path, "explicit-pads"), session(path, rule)
    x = np.random.default_rng(0).standard_normal((1, 3, 224, 224), np.float32)
    pairs = [(seconds(plain, x), seconds(other, x)) for _ in range(RUNS)][2:]
    print(median(after for _, after in pairs) / median(before for before, _ in pairs))


if __name__ == "__main__":
    main()
