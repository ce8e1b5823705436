"""Sessions of onnxruntime, and what ran where."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RuntimeUnavailable

Array = NDArray[Any]
Device = Literal["cpu", "cuda", "auto"]
ResolvedDevice = Literal["cpu", "cuda"]
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_FOLDER = "session.model_external_initializers_file_folder_path"
# Identity over one float: the smallest model that makes a provider load its libraries.
_PROBE = bytes.fromhex(
    "080712003a370a100a017812017922084964656e746974791201675a0f0a0178120a"
    "0a08080112040a020801620f0a0179120a0a08080112040a02080142040a00100d"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a session is opened.

    `folder` is where relative names of external data point; `disabled` names optimiser rules such
    as `Pad_Fusion`; `tf32` lets CUDA round the operands of convolutions to 10 bits.
    """

    device: Device = "cpu"
    optimise: bool = False
    tf32: bool = False
    disabled: tuple[str, ...] = ()
    folder: Path | None = None
    threads: int = 0
    records_assignment: bool = False


@dataclass(frozen=True, slots=True)
class RunFailure:
    """onnxruntime did not open (`stage` open) or run (`stage` run) a model, and what it said."""

    stage: Literal["open", "run"]
    reason: str

    def __str__(self) -> str:
        return self.reason


class Session:
    """An open model; `providers` are those that onnxruntime really registered, in its order."""

    def __init__(self, opened: Any, errors: tuple[type[Exception], ...]) -> None:  # noqa: ANN401 - onnxruntime has no types
        self._opened = opened
        self._errors = errors
        self.providers: tuple[str, ...] = tuple(opened.get_providers())
        self.outputs: tuple[str, ...] = tuple(value.name for value in opened.get_outputs())
        self.inputs: tuple[str, ...] = tuple(value.name for value in opened.get_inputs())

    def run(
        self, feeds: Mapping[str, Array], names: Sequence[str] | None = None
    ) -> dict[str, Array] | RunFailure:
        """Outputs by name (all, or `names`) for one set of inputs."""
        wanted = list(self.outputs if names is None else names)
        try:
            values = self._opened.run(wanted, dict(feeds))
        except self._errors as error:
            return RunFailure("run", _first_line(error))
        return {name: _array(value) for name, value in zip(wanted, values, strict=True)}

    def assignments(self) -> dict[str, str]:
        """The provider of each node by its name, where `Settings.records_assignment` was set."""
        parts = self._opened.get_provider_graph_assignment_info()
        return {node.name: part.ep_name for part in parts for node in part.get_nodes()}


def open_session(model: bytes | Path, settings: Settings = Settings()) -> Session | RunFailure:
    """Open a model from its bytes or its file.

    A model that onnxruntime refuses gives a RunFailure. Raises RuntimeUnavailable where CUDA is
    asked for and its provider does not load: onnxruntime itself would silently use the CPU.
    """
    import onnxruntime

    settings = replace(settings, device=resolved(settings.device))
    if settings.device == "cuda":
        _require_cuda()
    errors = _errors_of(onnxruntime)
    source = str(model) if isinstance(model, Path) else model
    providers = [(CUDA, _cuda_options(settings)), CPU] if settings.device == "cuda" else [CPU]
    try:
        opened = onnxruntime.InferenceSession(
            source,
            _options(onnxruntime, settings),
            providers=providers,
            disabled_optimizers=list(settings.disabled) or None,
            enable_fallback=0,
        )
    except errors as error:
        return RunFailure("open", _first_line(error))
    session = Session(opened, errors)
    if settings.device == "cuda" and CUDA not in session.providers:
        raise RuntimeUnavailable(_no_cuda("it loaded before, but not for this model"))
    return session


def resolved(device: Device) -> ResolvedDevice:
    """The device that `auto` stands for here: cuda where its provider loads, else cpu."""
    if device == "auto":
        return "cuda" if cuda_problem() is None else "cpu"
    return device


@cache
def cuda_problem() -> str | None:
    """Why the CUDA provider does not load, or None where it does."""
    import onnxruntime

    if CUDA not in onnxruntime.get_available_providers():
        return f"this onnxruntime {onnxruntime.__version__} was built without CUDA"
    with _captured() as said:
        if hasattr(onnxruntime, "preload_dlls"):
            onnxruntime.preload_dlls()
        try:
            probe = onnxruntime.InferenceSession(_PROBE, providers=[CUDA, CPU], enable_fallback=0)
        except _errors_of(onnxruntime) as error:
            return _first_line(error)
    if CUDA in probe.get_providers():
        return None
    lines = [line for line in "".join(said).splitlines() if "error" in line.lower()]
    detail = lines[0].rsplit("with error: ", 1)[-1] if lines else "onnxruntime gave no reason"
    return f"its CUDA provider did not load: {detail}"


def assignments(model: bytes | Path, settings: Settings) -> dict[str, str] | RunFailure:
    """The provider that each node is assigned to, by the node's name, without a run."""
    found = open_session(model, replace(settings, records_assignment=True))
    return found if isinstance(found, RunFailure) else found.assignments()


def _array(value: object) -> Array:
    """A tensor as it is; a sequence of tensors as an array of objects."""
    if not isinstance(value, list):
        return np.asarray(value)
    items = np.empty(len(value), dtype=object)
    items[:] = value
    return items


def _require_cuda() -> None:
    problem = cuda_problem()
    if problem is not None:
        raise RuntimeUnavailable(_no_cuda(problem))


def _no_cuda(problem: str) -> str:
    return (
        f"device cuda: {problem}\n"
        "  try     pip install '.[cuda]' on a machine with an NVIDIA driver, or device cpu"
    )


def _options(onnxruntime: ModuleType, settings: Settings) -> Any:  # noqa: ANN401 - no types
    options = onnxruntime.SessionOptions()
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        level.ORT_ENABLE_ALL if settings.optimise else level.ORT_DISABLE_ALL
    )
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    options.intra_op_num_threads = settings.threads
    if settings.folder is not None:
        options.add_session_config_entry(_FOLDER, str(settings.folder))
    if settings.records_assignment:
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    return options


def _cuda_options(settings: Settings) -> dict[str, str]:
    """EXHAUSTIVE picks algorithms by timing them, so two runs could differ; HEURISTIC does not."""
    return {"use_tf32": str(int(settings.tf32)), "cudnn_conv_algo_search": "HEURISTIC"}


def _errors_of(onnxruntime: ModuleType) -> tuple[type[Exception], ...]:
    state = onnxruntime.capi.onnxruntime_pybind11_state
    own = [value for value in vars(state).values() if isinstance(value, type)]
    raised = [value for value in own if issubclass(value, Exception)]
    return (*raised, RuntimeError, ValueError, TypeError)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextlib.contextmanager
def _captured() -> Iterator[list[str]]:
    """Catch what onnxruntime's libraries write to the terminal; their only way to say why."""
    said: list[str] = []
    with tempfile.TemporaryFile() as caught, contextlib.redirect_stdout(io.StringIO()) as spoken:
        sys.stderr.flush()
        kept = os.dup(2)
        os.dup2(caught.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            caught.seek(0)
            said.extend((caught.read().decode(errors="replace"), spoken.getvalue()))
