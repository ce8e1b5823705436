"""The real models with the inputs and outputs of the framework that they come from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.models.real import CORPUS, samples
from tests.runtimes.live.running import Case

Array = np.ndarray[Any, Any]
NEAR = 2e-3


def cases(folder: Path = CORPUS) -> dict[str, Case]:
    """The first sample of each model that has inputs; nothing where the folder is not there."""
    found = {}
    for path in sorted(folder.glob("*.onnx")):
        given = samples(path)
        if given:
            found[path.stem] = Case(path, given[0], _references(path))
    return found


def sizes(case: Case) -> dict[str, int]:
    """What the dimensions of the model's inputs are in the sample, under the names of `--dim`."""
    graph = onnx.load(case.model, load_external_data=False).graph
    found = {}
    for value in graph.input:
        if value.name not in case.inputs:
            continue
        dims = value.type.tensor_type.shape.dim
        for axis, (dim, size) in enumerate(zip(dims, case.inputs[value.name].shape, strict=True)):
            if not dim.HasField("dim_value"):
                found[dim.dim_param or f"{value.name}[{axis}]"] = int(size)
    return found


def _references(path: Path) -> dict[str, Array]:
    """The framework's outputs; onnxruntime's of the original where the export itself is apart."""
    outputs = onnx.load(path, load_external_data=False).graph.output
    with np.load(path.with_suffix(".npz")) as stored:
        return {value.name: _reference(stored, number) for number, value in enumerate(outputs)}


def _reference(stored: Mapping[str, Array], number: int) -> Array:
    source = stored[f"s0_src{number}"]
    for kind in ("ortnoopt", "ort"):
        if f"s0_{kind}{number}" in stored:
            own = stored[f"s0_{kind}{number}"]
            break
    else:
        return source
    if own.shape != source.shape:
        return own
    apart = np.abs(own.astype(np.float64) - source.astype(np.float64)).max(initial=0.0)
    return source if apart <= NEAR * np.abs(source).max(initial=0.0) else own
