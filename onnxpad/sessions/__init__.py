"""Sessions of onnxruntime in a child process that can be ended, and what ran where.

`served` is what the child runs: nothing of onnxruntime is loaded here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import RuntimeUnavailable
from onnxpad.processes import Buffer, Child, ChildEnded, Reply, Work

Array = NDArray[Any]
Device = Literal["cpu", "cuda", "auto"]
ResolvedDevice = Literal["cpu", "cuda"]
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_MODULE = "onnxpad.sessions.served"
_DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_CUDA_LIBRARIES = "the CUDA libraries of onnxruntime"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a session is opened.

    `folder` is where relative names of external data point; `tf32` lets CUDA round the operands of
    convolutions to 10 bits.
    """

    device: Device = "cpu"
    optimise: bool = False
    tf32: bool = False
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
    """An open model; it lasts as long as the work that opened it.

    `providers` are those that onnxruntime really registered, in its order; `assignments` is the one
    of each node by its name, where `Settings.records_assignment` was set.
    """

    def __init__(self, work: Work, child: Child, opened: Mapping[str, Any]) -> None:
        self._work = work
        self._child = child
        self._number = opened["number"]
        self.providers: tuple[str, ...] = tuple(opened["providers"])
        self.outputs: tuple[str, ...] = tuple(opened["outputs"])
        self.inputs: tuple[str, ...] = tuple(opened["inputs"])
        self.assignments: dict[str, str] = opened["assignments"]

    def __del__(self) -> None:
        self._child.held.setdefault("closed", []).append(self._number)

    @property
    def lost(self) -> bool:
        """Whether the child has ended."""
        return not self._child.alive

    def run(
        self, feeds: Mapping[str, Array], names: Sequence[str] | None = None
    ) -> dict[str, Array] | RunFailure:
        """Outputs by name (all, or `names`) for one set of inputs.

        Raises LimitMet where the child was ended at its limit.
        """
        wanted = list(self.outputs if names is None else names)
        buffers: list[Buffer] = []
        given = {name: packed(value, buffers) for name, value in feeds.items()}
        said = {"do": "run", "number": self._number, "feeds": given, "names": wanted}
        found = _asked(self._work, self._child, said, buffers, "run")
        if isinstance(found, RunFailure):
            return found
        rest = iter(found.buffers)
        values = (unpacked(value, rest) for value in found.head["values"])
        return {name: _array(value) for name, value in zip(wanted, values, strict=True)}


def open_session(
    model: bytes | Path, settings: Settings = Settings(), more: int = 0
) -> Session | RunFailure:
    """Open a model from its bytes or its file, within the limits of the work.

    `more` are bytes of external data, which the limits grow with. A model that onnxruntime refuses,
    or crashes on, gives a RunFailure. Raises LimitMet where the child was ended, and
    RuntimeUnavailable where onnxruntime is not installed, or CUDA is asked for and its provider
    does not load: onnxruntime itself would silently use the CPU.
    """
    check_device(settings.device)
    settings = replace(settings, device=resolved(settings.device))
    work = processes.current()
    child = work.child(_MODULE)
    if settings.device == "cuda" and "cuda" not in child.held:
        _warm(child)
    told = {**asdict(settings), "folder": str(settings.folder) if settings.folder else None}
    said: dict[str, Any] = {"do": "open", "settings": told}
    if isinstance(model, Path):
        said["path"] = str(model)
    content = [] if isinstance(model, Path) else [model]
    found = _asked(work, child, said, content, "open", more)
    if isinstance(found, RunFailure):
        return found
    return Session(work, child, found.head)


def _asked(
    work: Work,
    child: Child,
    said: dict[str, Any],
    buffers: Sequence[Buffer],
    stage: Literal["open", "run"],
    more: int = 0,
) -> Reply | RunFailure:
    said["closed"] = child.held.pop("closed", [])
    try:
        reply = work.call(child, said, buffers, more=more)
    except ChildEnded as ended:
        if not ended.crashed:
            raise
        return RunFailure(stage, f"onnxruntime: {ended}")
    failure = reply.head.get("failure")
    return reply if failure is None else RunFailure(*failure)


def check_device(device: Device) -> None:
    """Raise RuntimeUnavailable where nothing can run there, or onnxruntime is not installed."""
    _require_library()
    if device == "cuda" and (problem := cuda_problem()) is not None:
        raise RuntimeUnavailable(no_cuda(problem))


@cache
def _require_library() -> None:
    if find_spec("onnxruntime") is None:
        raise RuntimeUnavailable(
            "onnxruntime is not installed, and without it no model can be run\n"
            "  try     pip install onnxruntime-gpu (it runs on the CPU as well), or onnxruntime"
        )


def no_cuda(problem: str) -> str:
    """The message where CUDA is asked for and is not there."""
    return (
        f"device cuda: {problem}\n"
        "  try     pip install '.[cuda]' on a machine with an NVIDIA driver, or device cpu"
    )


def resolved(device: Device) -> ResolvedDevice:
    """The device that `auto` stands for here: cuda where its provider loads, else cpu."""
    if device == "auto":
        return "cuda" if cuda_problem() is None else "cpu"
    return device


@cache
def cuda_problem() -> str | None:
    """Why the CUDA provider does not load, or None where it does.

    Only where there is a driver is anything loaded, in a child: damaged libraries end a process.
    """
    if not _has_driver():
        return f"there is no NVIDIA driver here ({_DRIVER} does not load)"
    child = processes.current().child(_MODULE, _CUDA_LIBRARIES)
    try:
        return _warm(child)
    except ChildEnded as ended:
        if not ended.crashed:
            raise
        return f"loading {_CUDA_LIBRARIES}: {ended}; they are damaged, install them again"


def _warm(child: Child) -> str | None:
    """Load CUDA's libraries, which is no cost of a model; says why they do not load."""
    problem: str | None = child.call({"do": "warm"}).head["problem"]
    child.held["cuda"] = True
    child.settle()
    return problem


def _has_driver() -> bool:
    import ctypes

    try:
        ctypes.CDLL(_DRIVER)
    except OSError:
        return False
    return True


def assignments(model: bytes | Path, settings: Settings) -> dict[str, str] | RunFailure:
    """The provider that each node is assigned to, by the node's name, without a run."""
    found = open_session(model, replace(settings, records_assignment=True))
    return found if isinstance(found, RunFailure) else found.assignments


def _array(value: object) -> Array:
    """A tensor as it is; a sequence of tensors as an array of objects."""
    if not isinstance(value, list):
        return np.asarray(value)
    items = np.empty(len(value), dtype=object)
    items[:] = value
    return items


def packed(value: Any, buffers: list[Buffer]) -> Any:  # noqa: ANN401 - whatever onnxruntime gives
    """A value as plain data that `unpacked` reads; the cells of tensors go into `buffers`."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "OUS":
        if all(isinstance(item, str) for item in value.flat):
            return {"texts": value.reshape(-1).tolist(), "shape": value.shape}
        return {"items": [packed(item, buffers) for item in value.flat]}
    if isinstance(value, list):
        return {"items": [packed(item, buffers) for item in value]}
    if isinstance(value, dict):
        return {"pairs": [[key, packed(item, buffers)] for key, item in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        kind = array.dtype.str if array.dtype.isbuiltin == 1 else array.dtype.name
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        buffers.append(flat.data)
        return {"dtype": kind, "shape": array.shape}
    return {"plain": value}


def unpacked(plain: Mapping[str, Any], buffers: Iterator[Buffer]) -> Any:  # noqa: ANN401
    """What was packed."""
    if "items" in plain:
        return [unpacked(item, buffers) for item in plain["items"]]
    if "pairs" in plain:
        return {key: unpacked(item, buffers) for key, item in plain["pairs"]}
    if "texts" in plain:
        return np.array(plain["texts"], dtype=object).reshape(plain["shape"])
    if "plain" in plain:
        return plain["plain"]
    return np.frombuffer(next(buffers), _dtype(plain["dtype"])).reshape(plain["shape"])


def _dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # noqa: F401 - it tells numpy of bfloat16 and its kin

        return np.dtype(name)
