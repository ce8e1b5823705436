"""What the child process that runs onnxruntime does: it opens models, runs them, says where."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from onnxpad import processes
from onnxpad.errors import RuntimeUnavailable, headline
from onnxpad.processes import MIB, Buffer, Reply
from onnxpad.sessions import CPU, CUDA, RunFailure, Settings, no_cuda, packed, unpacked

_FOLDER = "session.model_external_initializers_file_folder_path"
# Identity over one float: the smallest model that makes a provider load its libraries.
_PROBE = bytes.fromhex(
    "080712003a370a100a017812017922084964656e746974791201675a0f0a0178120a"
    "0a08080112040a020801620f0a0179120a0a08080112040a02080142040a00100d"
)
_MUCH = 64 * MIB


@cache
def library() -> Any:  # noqa: ANN401 - onnxruntime has no types
    """onnxruntime, which reports to nobody and says nothing on its own."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError as error:
        raise RuntimeUnavailable(
            f"onnxruntime cannot be loaded: {headline(error)}\n"
            "  try     pip install onnxruntime, or onnxruntime-gpu for CUDA"
        ) from error

    onnxruntime.set_default_logger_severity(4)
    return onnxruntime


def _errors_of(onnxruntime: ModuleType) -> tuple[type[Exception], ...]:
    state = onnxruntime.capi.onnxruntime_pybind11_state
    own = [value for value in vars(state).values() if isinstance(value, type)]
    raised = [value for value in own if issubclass(value, Exception)]
    return (*raised, RuntimeError, ValueError, TypeError)


@cache
def cuda_problem() -> str | None:
    """Why the CUDA provider does not load in this process, or None where it does."""
    onnxruntime = library()
    if CUDA not in onnxruntime.get_available_providers():
        return f"this onnxruntime {onnxruntime.__version__} was built without CUDA"
    if hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()
    try:
        probe = onnxruntime.InferenceSession(_PROBE, providers=[CUDA, CPU], enable_fallback=0)
    except _errors_of(onnxruntime) as error:
        return headline(error)
    if CUDA in probe.get_providers():
        return None
    return "its CUDA provider did not load: CUDA or cuDNN is missing, or of another version"


def opened(model: bytes | Path, settings: Settings) -> Any:  # noqa: ANN401 - onnxruntime has no types
    """An onnxruntime.InferenceSession, or a RunFailure where onnxruntime refuses the model.

    Raises RuntimeUnavailable where CUDA is asked for and not registered.
    """
    onnxruntime = library()
    on_cuda = settings.device == "cuda"
    if on_cuda and (problem := cuda_problem()) is not None:
        raise RuntimeUnavailable(no_cuda(problem))
    source = str(model) if isinstance(model, Path) else model
    how = "HEURISTIC"  # EXHAUSTIVE times algorithms, so that two runs could differ
    cuda = (CUDA, {"use_tf32": str(int(settings.tf32)), "cudnn_conv_algo_search": how})
    try:
        session = onnxruntime.InferenceSession(
            source,
            _options(onnxruntime, settings),
            providers=[cuda, CPU] if on_cuda else [CPU],
            enable_fallback=0,
        )
    except _errors_of(onnxruntime) as error:
        return RunFailure("open", headline(error))
    session._model_bytes = None  # noqa: SLF001 - kept for a fallback, which is off; as large as the model
    if on_cuda and CUDA not in session.get_providers():
        raise RuntimeUnavailable(no_cuda("it loaded before, but not for this model"))
    return session


def _options(onnxruntime: ModuleType, settings: Settings) -> Any:  # noqa: ANN401 - no types
    options = onnxruntime.SessionOptions()
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        level.ORT_ENABLE_ALL if settings.optimise else level.ORT_DISABLE_ALL
    )
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    options.intra_op_num_threads = settings.threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if settings.folder is not None:
        options.add_session_config_entry(_FOLDER, str(settings.folder))
    if settings.records_assignment:
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    return options


def _failed(failure: RunFailure) -> Reply:
    return Reply({"failure": [failure.stage, failure.reason]}, [])


class _Served:
    """What a child process holds: open sessions by number, with the bytes of their models."""

    def __init__(self) -> None:
        self._sessions: dict[int, tuple[Any, int]] = {}
        self._last = 0

    def warm(self, _: Mapping[str, Any], __: list[Buffer]) -> Reply:
        return Reply({"problem": cuda_problem()}, [])

    def clear(self, _: Mapping[str, Any], __: list[Buffer]) -> Reply:
        self._close({"closed": list(self._sessions)})
        return Reply({}, [])

    def open(self, said: Mapping[str, Any], buffers: list[Buffer]) -> Reply:
        self._close(said)
        told = dict(said["settings"])
        told["folder"] = Path(told["folder"]) if told["folder"] else None
        model = Path(said["path"]) if "path" in said else bytes(buffers[0])
        found = opened(model, Settings(**told))
        if isinstance(found, RunFailure):
            return _failed(found)
        self._last += 1
        self._sessions[self._last] = found, len(buffers[0]) if buffers else _MUCH
        parts = found.get_provider_graph_assignment_info() if told["records_assignment"] else []
        head = {
            "number": self._last,
            "providers": found.get_providers(),
            "outputs": [value.name for value in found.get_outputs()],
            "inputs": [value.name for value in found.get_inputs()],
            "assignments": {node.name: part.ep_name for part in parts for node in part.get_nodes()},
        }
        return Reply(head, [])

    def run(self, said: Mapping[str, Any], buffers: list[Buffer]) -> Reply:
        self._close(said)
        rest = iter(buffers)
        feeds = {name: unpacked(value, rest) for name, value in said["feeds"].items()}
        try:
            values = self._sessions[said["number"]][0].run(said["names"], feeds)
        except _errors_of(library()) as error:
            own = sorted({str(one.dtype) for one in feeds.values() if one.dtype.isbuiltin != 1})
            if own and "MLDataType" in str(error):
                reason = f"onnxruntime takes no {' or '.join(own)} from Python"
            else:
                reason = headline(error)
            return _failed(RunFailure("run", reason))
        made: list[Buffer] = []
        return Reply({"values": [packed(value, made) for value in values]}, made)

    def _close(self, said: Mapping[str, Any]) -> None:
        """Close sessions, and give much memory back to the system: glibc would keep it."""
        closed = [self._sessions.pop(number, (None, 0)) for number in said["closed"]]
        size = sum(size for _, size in closed)
        closed.clear()
        if size > _MUCH:
            with contextlib.suppress(AttributeError, OSError, TypeError):  # of another C library
                ctypes.CDLL(None).malloc_trim(0)


def _serve() -> None:
    with contextlib.suppress(RuntimeUnavailable):  # every call says so
        library()  # its start is no cost of a model
    served = _Served()
    names = ("warm", "clear", "open", "run")
    processes.serve({name: getattr(served, name) for name in names})


if __name__ == "__main__":
    _serve()
