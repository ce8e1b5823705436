"""Runs inside a runtime's own Python: `python serving.py FILE.py`, one job per line.

A file of a user has `run(model, inputs)`, which gives back arrays by the names of outputs. An
adapter has `load(model, inputs, outputs)`, where `outputs` gives the rank of each output, or -1: a
function of inputs of these shapes, which gives a list of arrays in the order of the outputs, and of
a device beside it whether it left a node to the CPU. Both raise whatever the runtime raises when it
refuses the model. A path stands for one content as long as a process lives: the last one is kept.
Nothing here or in an adapter imports onnxpad, which is not installed there.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np

BESIDE = "--beside"
"""Lets the file import what lies beside it, as a script may."""


def encode(arrays: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Arrays as JSON; TypeError for elements that are no numbers, truth values or texts."""
    return {name: _encoded(name, np.asarray(value)) for name, value in arrays.items()}


def _encoded(name: str, array: np.ndarray[Any, Any]) -> dict[str, Any]:
    if array.dtype.kind in "OmM" or array.dtype.type is np.void:
        raise TypeError(f"'{name}' is an array of {array.dtype}, and must be one of numbers")
    data = base64.b64encode(array.tobytes()).decode()
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": data}


def decode(arrays: Mapping[str, Mapping[str, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """The same arrays; TypeError or ValueError where they are none."""
    return {
        name: np.ndarray(
            tuple(one["shape"]), _dtype(one["dtype"]), bytearray(base64.b64decode(one["data"]))
        )
        for name, one in arrays.items()
    }


def _dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        importlib.import_module("ml_dtypes")  # numpy knows bfloat16 and its kin after that
        return np.dtype(name)


def _loaded(path: Path) -> Callable[[dict[str, Any]], Any]:
    """What runs a job in the file at `path`."""
    spec = importlib.util.spec_from_file_location("runtime_adapter", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if callable(getattr(module, "run", None)):
        return lambda job: module.run(job["model"], decode(job["inputs"]))
    if not hasattr(module, "load"):
        raise TypeError(f"{path.name} has no function run(model, inputs)")
    return _keeping(module.load)


def _keeping(load: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    """What runs a job with what an adapter has loaded, for this job or the one before."""
    kept: list[Any] = []

    def ran(job: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever the adapter gives
        inputs, outputs = decode(job["inputs"]), job["outputs"]
        shapes = [(name, array.shape, array.dtype) for name, array in inputs.items()]
        if kept[:1] != [(job["model"], shapes, outputs)]:
            kept.clear()
            loaded = load(job["model"], inputs, outputs)
            kept.extend([(job["model"], shapes, outputs), loaded])
        results = kept[1](inputs)
        results, fallback = results if isinstance(results, tuple) else (results, False)
        return dict(zip(outputs, results, strict=False)), fallback

    return ran


def answer(ran: Any) -> dict[str, Any]:  # noqa: ANN401 - a user's function gave it
    """The answer to a job of which `ran` came back; TypeError where that is nothing to answer."""
    results, fallback = ran if isinstance(ran, tuple) and len(ran) == 2 else (ran, False)
    if not isinstance(results, Mapping):
        kind = type(results).__name__
        raise TypeError(f"run() gave back {kind}, and must give back a dict of arrays by name")
    return {"outputs": encode(results), "fallback": bool(fallback)}


def fault(error: BaseException) -> str:
    """The last line of a traceback."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - errors of runtimes have texts of their own
        said = ""
    return f"{type(error).__name__}: {said}".rstrip(": ")


def _flush() -> None:
    """What native code and Python printed belongs to this job."""
    import ctypes

    sys.stdout.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


def _say(stream: TextIO, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def main() -> None:
    """Answer jobs until standard input ends."""
    # Converters print to standard output and read standard input, so both are moved out of reach.
    jobs = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # The programs of this environment are found first, as where it is activated.
    own = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join(filter(None, (own, os.environ.get("PATH"))))
    path = Path(sys.argv[1])
    here = str(Path(__file__).parent)
    beside = [str(path.parent)] if BESIDE in sys.argv else []
    sys.path[:] = [*beside, *(one for one in sys.path if one != here)]
    try:
        run = _loaded(path)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises, it does not start
        _say(answers, {"failed": fault(error)})
        return
    own_process = os.getpid()
    _say(answers, {"ready": True})
    for line in jobs:
        try:
            found = answer(run(json.loads(line)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - runtimes have errors of their own
            found = {"refused": fault(error)}
        _flush()
        if os.getpid() != own_process:  # a fork that came back: its parent answers
            os._exit(0)
        _say(answers, found)
    # A runtime that crashes while it is unloaded has done its jobs.
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


if __name__ == "__main__":
    main()
