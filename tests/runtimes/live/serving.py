"""Runs inside a runtime's own environment: `python serving.py WORKER.py`, one job per line.

A worker is a file with `run(model, inputs, outputs) -> {name: array}`, where `outputs` gives the
rank of each output, or -1; it raises whatever the runtime raises when it refuses the model. Of a
device it gives back as well whether it left a node to the CPU. Nothing
here or in a worker imports onnxpad or the rest of the tests: neither is installed there.
"""

import base64
import ctypes
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, "np.ndarray[Any, Any]"]


def encode(arrays: Arrays) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "dtype": str(array.dtype),
            "shape": list(array.shape),
            "data": base64.b64encode(array.tobytes()).decode(),
        }
        for name, array in arrays.items()
    }


def decode(arrays: dict[str, dict[str, Any]]) -> Arrays:
    return {
        name: np.frombuffer(base64.b64decode(array["data"]), np.dtype(array["dtype"]))
        .reshape(array["shape"])
        .copy()
        for name, array in arrays.items()
    }


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("worker", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(worker: Any, job: dict[str, Any]) -> dict[str, Any]:
    try:
        inputs = decode(job["inputs"])
        found = worker.run(job["model"], inputs, job["outputs"])
        results, fallback = found if isinstance(found, tuple) else (found, False)
        arrays = {name: np.asarray(array) for name, array in results.items()}
        return {"outputs": encode(arrays), "fallback": fallback}
    except Exception as error:  # noqa: BLE001 # every runtime has errors of its own
        return {"refused": f"{type(error).__name__}: {error}"}
    finally:
        # What native code printed belongs to this job.
        ctypes.CDLL(None).fflush(None)


def _with_programs() -> None:
    """Put the programs of this environment first on the PATH, as where it is activated."""
    own = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join(filter(None, (own, os.environ.get("PATH"))))


def main() -> None:
    # Converters print to standard output and read standard input, so both are moved out of reach.
    jobs = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _with_programs()
    worker = loaded(Path(sys.argv[1]))
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in jobs:
        print(json.dumps(answer(worker, json.loads(line))), file=answers, flush=True)
    # A runtime that crashes while it is unloaded has done its jobs.
    os._exit(0)


if __name__ == "__main__":
    main()
