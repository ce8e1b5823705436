"""tract on the CPU, which is told the shapes of a run before it compiles the model."""

from functools import lru_cache
from typing import Any

import numpy as np
import tract

Array = np.ndarray[Any, Any]


def _spelled(array: Array) -> str:
    kind = "bool" if array.dtype.kind == "b" else f"{array.dtype.kind}{8 * array.dtype.itemsize}"
    return ",".join([*map(str, array.shape), kind])


@lru_cache(maxsize=1)
def _compiled(model: str, facts: tuple[tuple[str, str], ...]) -> Any:
    read, known = tract.onnx().load(model), dict(facts)
    names = [read.input_name(place) for place in range(read.input_count())]
    for place, name in enumerate(names):
        read.set_input_fact(place, known[name])
    for place in range(read.output_count()):
        read.set_output_fact(place, None)
    return names, read.into_model().into_runnable()


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    facts = tuple((name, _spelled(array)) for name, array in inputs.items())
    names, runnable = _compiled(model, facts)
    results = runnable.run([np.ascontiguousarray(inputs[name]) for name in names])
    return {name: one.to_numpy() for name, one in zip(outputs, results, strict=True)}
