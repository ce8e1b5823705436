"""What other tools make of models and say of pairs; runs in an environment of their own.

    python tests/proof/peers.py optimise FOLDER   writes NAME.TOOL.onnx beside every NAME.onnx
    python tests/proof/peers.py compare FOLDER    of NAME_before.onnx and NAME_after.onnx

Imports nothing of onnxpad: its environment holds the tools alone (onnxscript, onnxoptimizer,
onnxsim, onnxslim, onnxruntime, polygraphy). A tool that dies or hangs leaves no file.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

Array = NDArray[Any]


def by_onnxscript(model: onnx.ModelProto) -> onnx.ModelProto:
    folded = import_module("onnxscript.optimizer").optimize(model)
    made: onnx.ModelProto = import_module("onnxscript.rewriter").rewrite(folded)
    return made


def by_onnxoptimizer(model: onnx.ModelProto) -> onnx.ModelProto:
    tool = import_module("onnxoptimizer")
    made: onnx.ModelProto = tool.optimize(model, tool.get_fuse_and_elimination_passes())
    return made


def by_onnxsim(model: onnx.ModelProto) -> onnx.ModelProto:
    made: onnx.ModelProto = import_module("onnxsim").simplify(model)[0]
    return made


def by_onnxslim(model: onnx.ModelProto) -> onnx.ModelProto:
    made: onnx.ModelProto = import_module("onnxslim").slim(model)
    return made


def by_onnxruntime(level: str) -> Callable[[onnx.ModelProto], onnx.ModelProto]:
    def optimised(model: onnx.ModelProto) -> onnx.ModelProto:
        onnxruntime = import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(
            onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level.upper()}"
        )
        options.log_severity_level = 4
        with tempfile.TemporaryDirectory() as folder:
            options.optimized_model_filepath = f"{folder}/made.onnx"
            content = model.SerializeToString()
            onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
            return onnx.load(options.optimized_model_filepath)

    return optimised


TOOLS: dict[str, Callable[[onnx.ModelProto], onnx.ModelProto]] = {
    "onnxscript": by_onnxscript,
    "onnxoptimizer": by_onnxoptimizer,
    "onnxsim": by_onnxsim,
    "onnxslim": by_onnxslim,
    "onnxruntime-basic": by_onnxruntime("basic"),
    "onnxruntime-extended": by_onnxruntime("extended"),
}


def bare(model: onnx.ModelProto) -> bytes:
    """Nodes, constants, inputs and outputs alone: what else a tool writes is no change."""
    other = onnx.ModelProto()
    other.CopyFrom(model)
    del other.graph.value_info[:]
    for field in ("producer_name", "producer_version", "doc_string", "ir_version"):
        other.ClearField(field)
    del other.metadata_props[:]
    other.graph.name = ""
    for info in other.graph.output:
        info.ClearField("type")
    for node in other.graph.node:
        node.name = ""
        del node.metadata_props[:]
        node.attribute.sort(key=lambda entry: entry.name)
    used = {entry.domain for entry in model.opset_import} & {n.domain for n in model.graph.node}
    kept = [entry for entry in other.opset_import if entry.domain in used]
    del other.opset_import[:]
    other.opset_import.extend(sorted(kept, key=lambda entry: entry.domain))
    other.graph.initializer.sort(key=lambda tensor: tensor.name)
    for tensor in other.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    content: bytes = other.SerializeToString(deterministic=True)
    return content


def optimise(folder: Path) -> None:
    """Every tool on every model; a child for many models, another one where it dies."""
    names = sorted(path.stem for path in folder.glob("*.onnx") if "." not in path.stem)
    for tool in TOOLS:
        left = list(names)
        while left:
            child = subprocess.Popen(
                [sys.executable, __file__, "one", str(folder), tool, *left],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            assert child.stdout is not None
            done = [line.strip() for line in child.stdout]
            child.wait()
            left = left[len(done) :]
            if left:
                sys.stdout.write(f"{tool} died of {left[0]}\n")
                left = left[1:]
    versions = {name: metadata.version(name.partition("-")[0]) for name in TOOLS}
    (folder / "releases.json").write_text(json.dumps(versions))


def one(folder: Path, tool: str, names: list[str]) -> None:
    """Some models by one tool; a line for each that is over."""
    for name in names:
        model = onnx.load(folder / f"{name}.onnx")
        content = bare(model)
        try:
            made = TOOLS[tool](model)
            if bare(made) != content:
                onnx.save(made, folder / f"{name}.{tool}.onnx")
        except Exception as error:  # noqa: BLE001 - a tool may fail in any way
            (folder / f"{name}.{tool}.txt").write_text(f"{type(error).__name__}: {error}"[:500])
        sys.stdout.write(name + "\n")
        sys.stdout.flush()


def compare(folder: Path) -> None:
    """Polygraphy's defaults, and np.allclose on one draw of N(0, 1), into peers.json.

    A session may end the process: what was found stays, and another call goes on behind it.
    """
    place = folder / "peers.json"
    found = json.loads(place.read_text()) if place.exists() else {}
    for path in sorted(folder.glob("*_before.onnx")):
        name = path.name.removesuffix("_before.onnx")
        if name in found:
            continue
        found[name] = {}
        place.write_text(json.dumps(found))
        pair = [str(folder / f"{name}_{side}.onnx") for side in ("before", "after")]
        with np.load(folder / f"{name}_feed.npz") as held:
            feed = dict(held)
        found[name] = {"allclose": by_allclose(pair, feed), "polygraphy": by_polygraphy(pair)}
    place.write_text(json.dumps(found))


def by_allclose(pair: list[str], feed: dict[str, Array]) -> str:
    onnxruntime = import_module("onnxruntime")
    rng = np.random.default_rng(0)
    given = {
        name: rng.standard_normal(value.shape).astype(value.dtype)
        if value.dtype.kind == "f"
        else value
        for name, value in feed.items()
    }
    results = []
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for path in pair:
        try:
            session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
            results.append(session.run(None, given))
        except Exception:  # noqa: BLE001 - so may a session
            return "different" if results else "unrun"
    first, second = results
    alike = len(first) == len(second) and all(
        a.shape == b.shape and np.allclose(a, b, equal_nan=True)
        for a, b in zip(first, second, strict=True)
    )
    return "same" if alike else "different"


def by_polygraphy(pair: list[str]) -> str:
    logger = import_module("polygraphy.logger").G_LOGGER
    logger.module_severity = logger.CRITICAL
    runtime = import_module("polygraphy.backend.onnxrt")
    runners = [
        runtime.OnnxrtRunner(runtime.SessionFromOnnx(path), name=str(at))
        for at, path in enumerate(pair)
    ]
    comparator = import_module("polygraphy.comparator").Comparator
    try:
        comparator.run(runners[:1])
    except BaseException:  # noqa: BLE001 - it exits
        return "unrun"
    try:
        found = comparator.compare_accuracy(comparator.run(runners))
    except BaseException:  # noqa: BLE001 - it exits
        return "different"
    return "same" if bool(found) else "different"


if __name__ == "__main__":
    verb, place, *rest = sys.argv[1:]
    if verb == "one":
        one(Path(place), rest[0], rest[1:])
    else:
        {"optimise": optimise, "compare": compare}[verb](Path(place))
