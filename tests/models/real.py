"""The real models: those of models/ always, those of ../shared/corpus where it is present."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import AttributeProto, ModelProto, NodeProto

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "models"
OFF = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
ON = ort.GraphOptimizationLevel.ORT_ENABLE_ALL

Arrays = list[np.ndarray]


def model_paths() -> list[Path]:
    """Every model, each name once."""
    found = {path.name: path for path in sorted((ROOT / "models").glob("*.onnx"))}
    found |= {path.name: path for path in sorted(CORPUS.glob("*.onnx"))}
    return [found[name] for name in sorted(found)]


def light_models() -> list[Path]:
    """Models of the onnx wheel, without weights."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    return sorted(folder.glob("light_*.onnx"))


def samples(path: Path) -> list[dict[str, np.ndarray]]:
    """Stored inputs by name; empty where the model asks for more than was stored."""
    stored = np.load(path.with_suffix(".npz"))
    graph = onnx.load(path, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in constants]
    found = []
    for number in range(16):
        keys = [f"s{number}_in{position}" for position in range(len(names))]
        if all(key in stored for key in keys):
            found.append({name: stored[key] for name, key in zip(names, keys, strict=True)})
    return found


@cache
def original_outputs(path: Path, level: ort.GraphOptimizationLevel) -> list[Arrays] | str:
    """What onnxruntime computes for the stored inputs, or why it cannot."""
    return outputs(path.read_bytes(), path, level)


def outputs(
    model: bytes | ModelProto, path: Path, level: ort.GraphOptimizationLevel
) -> list[Arrays] | str:
    """The same for a model that takes the stored inputs of `path`."""
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    data = model if isinstance(model, bytes) else model.SerializeToString()
    try:
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        return [session.run(None, sample) for sample in samples(path)]
    except Exception as error:  # noqa: BLE001  onnxruntime has no common error class
        return f"{type(error).__name__}: {error}"


def same(first: list[Arrays] | str, second: list[Arrays] | str) -> bool:
    """Bit for bit the same numbers, NaN equal to NaN; nothing is the same as a failure."""
    if isinstance(first, str) or isinstance(second, str):
        return False
    rows = zip(first, second, strict=True)
    pairs = [pair for one, two in rows for pair in zip(one, two, strict=True)]
    return all(_same_array(a, b) for a, b in pairs)


def _same_array(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def distance(first: list[Arrays], second: list[Arrays], limit: int | None = None) -> float:
    """Largest difference over largest value, over the first `limit` outputs."""
    worst = 0.0
    for one, two in zip(first, second, strict=True):
        for a, b in list(zip(one, two, strict=False))[:limit]:
            if a.shape != b.shape:
                return float("inf")
            wide = a.astype(np.float64)
            top = float(np.max(np.abs(wide), initial=1e-30))
            worst = max(worst, float(np.max(np.abs(wide - b.astype(np.float64)), initial=0)) / top)
    return worst


def nodes_of(model: ModelProto) -> Iterator[NodeProto]:
    """Every node: main graph, bodies, functions."""
    pending = [model.graph.node, *(function.node for function in model.functions)]
    while pending:
        for node in pending.pop():
            yield node
            for attribute in node.attribute:
                if attribute.type == AttributeProto.GRAPH:
                    pending.append(attribute.g.node)
                elif attribute.type == AttributeProto.GRAPHS:
                    pending.extend(graph.node for graph in attribute.graphs)


def auto_pads(model: ModelProto) -> Mapping[str, str]:
    """Nodes whose auto_pad stands for pads, by name or first output."""
    return {
        node.name or node.output[0]: attribute.s.decode()
        for node in nodes_of(model)
        for attribute in node.attribute
        if attribute.name == "auto_pad" and attribute.s not in (b"", b"NOTSET")
    }
