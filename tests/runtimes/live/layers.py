"""Small models in a runtime: the verdict on each, expected results included."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TypeVar

import onnx
import pytest

from onnxpad.model.small_models import with_output_shapes
from onnxpad.probing.expected import expected
from onnxpad.runtimes.running.runner import Array
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.judging import Verdict
from tests.runtimes.live.running import Case, outcomes

Key = TypeVar("Key", bound=Hashable)


def verdicts_on(
    runtime: str, models: Mapping[Key, tuple[onnx.ModelProto, dict[str, Array]]], folder: Path
) -> dict[Key, Verdict]:
    """What `runtime` makes of each model; the test is skipped where it is missing."""
    cases = {}
    for number, (key, (model, feeds)) in enumerate(models.items()):
        right = expected(model, feeds).outputs
        path = folder / f"{number}.onnx"
        onnx.save(with_output_shapes(model, right), path)
        cases[key] = Case(path, feeds, right)
    try:
        found = outcomes(RUNTIMES[runtime], cases)
    except Unavailable as reason:
        pytest.skip(str(reason))
    return {key: one.verdict for key, one in found.items()}
