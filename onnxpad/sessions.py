"""Sessions of onnxruntime, here or in a child process that can be ended, and what ran where."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import RuntimeUnavailable, headline
from onnxpad.processes import Buffer, Child, ChildEnded, Reply, Work

Array = NDArray[Any]
Device = Literal["cpu", "cuda", "auto"]
ResolvedDevice = Literal["cpu", "cuda"]
Algorithms = Literal["HEURISTIC", "DEFAULT", "EXHAUSTIVE"]
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_MODULE = "onnxpad.sessions"
_LACKS_MEMORY = re.compile(
    r"bad_alloc|Failed to allocate memory for requested buffer of size (\d+)"
)
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
    as `Pad_Fusion`; `tf32` lets CUDA round the operands of convolutions to 10 bits; `algorithms` is
    how it chooses among those of cuDNN: EXHAUSTIVE times them, so that two runs could differ.
    """

    device: Device = "cpu"
    optimise: bool = False
    tf32: bool = False
    disabled: tuple[str, ...] = ()
    folder: Path | None = None
    threads: int = 0
    records_assignment: bool = False
    algorithms: Algorithms = "HEURISTIC"


@dataclass(frozen=True, slots=True)
class RunFailure:
    """onnxruntime did not open (`stage` open) or run (`stage` run) a model, and what it said."""

    stage: Literal["open", "run"]
    reason: str

    def __str__(self) -> str:
        return self.reason


class Session:
    """An open model; `providers` are those that onnxruntime really registered, in its order."""

    lost = False
    """Whether the process that held it has ended."""

    def __init__(self, opened: Any, errors: tuple[type[Exception], ...]) -> None:  # noqa: ANN401 - onnxruntime has no types
        self._opened = opened
        _OPENED.add(opened)
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
            own = sorted({str(one.dtype) for one in feeds.values() if one.dtype.isbuiltin != 1})
            if own and "MLDataType" in str(error):
                return RunFailure("run", f"onnxruntime takes no {' or '.join(own)} from Python")
            return RunFailure("run", headline(error))
        return {name: _array(value) for name, value in zip(wanted, values, strict=True)}

    def assignments(self) -> dict[str, str]:
        """The provider of each node by its name, where `Settings.records_assignment` was set."""
        parts = self._opened.get_provider_graph_assignment_info()
        return {node.name: part.ep_name for part in parts for node in part.get_nodes()}


_OPENED: WeakSet[Any] = WeakSet()
"""What onnxruntime has open in this process, garbage that is not collected yet included."""


def _keep_for_good() -> None:
    """In a fork: sessions of the parent stay, since closing one waits for threads it has not."""
    import ctypes

    for opened in _OPENED:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(opened))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_for_good)


class SessionApart(Session):
    """An open model in a child process; it lasts as long as the work that opened it."""

    def __init__(self, work: Work, child: Child, opened: Mapping[str, Any], size: int) -> None:
        """`size`: bytes of the model."""
        self._size = size
        self._work = work
        self._child = child
        self._number = opened["number"]
        self._place = child.pid, self._number
        work.kept[self._place] = size
        self.providers = tuple(opened["providers"])
        self.outputs = tuple(opened["outputs"])
        self.inputs = tuple(opened["inputs"])

    def __del__(self) -> None:
        self._child.held.setdefault("closed", []).append(self._number)

    @property
    def lost(self) -> bool:  # type: ignore[override] # a session here is never lost
        """Whether the child has ended."""
        return not self._child.alive

    def run(
        self, feeds: Mapping[str, Array], names: Sequence[str] | None = None
    ) -> dict[str, Array] | RunFailure:
        """Outputs by name; raises LimitMet where the child was ended at its limit."""
        wanted = list(self.outputs if names is None else names)
        buffers: list[Buffer] = []
        packed = {name: _packed(value, buffers) for name, value in feeds.items()}
        said = {"do": "run", "number": self._number, "feeds": packed, "names": wanted}
        most = self._size + sum(map(len, buffers))
        kept = self._work.kept
        kept[self._place] = max(most, kept.get(self._place, 0))
        found = _asked(self._work, self._child, said, buffers, "run")
        if isinstance(found, RunFailure):
            return found
        rest = iter(found.buffers)
        return {
            name: _array(_unpacked(value, rest))
            for name, value in zip(wanted, found.head["values"], strict=True)
        }

    def assignments(self) -> dict[str, str]:
        """The provider of each node by its name."""
        said = {"do": "assignments", "number": self._number}
        found = self._work.call(self._child, said)
        return dict(found.head["assignments"])


_DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_CUDA_LIBRARIES = "the CUDA libraries of onnxruntime"


def open_apart(
    model: bytes | Path, settings: Settings = Settings(), more: int = 0
) -> Session | RunFailure:
    """Open a model as `open_session` does, in a child process, within the limits of the work.

    `more` are bytes of external data, which the limits grow with. A child that crashes gives a
    RunFailure. Raises LimitMet where it was ended, RuntimeUnavailable as `open_session` does.
    """
    _require_library()
    work = processes.current()
    child = work.child(_MODULE)
    settings = replace(settings, device=resolved(settings.device))
    if settings.device == "cuda" and "cuda" not in child.held:
        child.call({"do": "warm"})  # loading CUDA's libraries is no cost of the model
        child.held["cuda"] = True
        child.settle()
    told = {**asdict(settings), "folder": str(settings.folder) if settings.folder else None}
    said: dict[str, Any] = {"do": "open", "settings": told}
    if isinstance(model, Path):
        said["path"] = str(model)
    content = [] if isinstance(model, Path) else [model]
    found = _asked(work, child, said, content, "open", more)
    if isinstance(found, RunFailure):
        return found
    return SessionApart(work, child, found.head, more + sum(map(len, content)))


def _asked(
    work: Work,
    child: Child,
    said: dict[str, Any],
    buffers: Sequence[Buffer],
    stage: Literal["open", "run"],
    more: int = 0,
) -> Reply | RunFailure:
    said["closed"] = closed = child.held.pop("closed", [])
    try:
        reply = work.call(child, said, buffers, more=more)
        for number in closed:
            work.kept.pop((child.pid, number), None)
    except ChildEnded as ended:
        if not ended.crashed:
            raise
        return RunFailure(stage, f"onnxruntime: {ended}")
    failure = reply.head.get("failure")
    return reply if failure is None else RunFailure(*failure)


def open_session(model: bytes | Path, settings: Settings = Settings()) -> Session | RunFailure:
    """Open a model from its bytes or its file.

    A model that onnxruntime refuses gives a RunFailure. Raises RuntimeUnavailable where it is not
    installed, and where CUDA is asked for and its provider does not load: onnxruntime itself would
    silently use the CPU.
    """
    onnxruntime = library()
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
        return RunFailure("open", headline(error))
    opened._model_bytes = None  # noqa: SLF001 - kept for a fallback, which is off; as large as the model
    session = Session(opened, errors)
    if settings.device == "cuda" and CUDA not in session.providers:
        raise RuntimeUnavailable(_no_cuda("it loaded before, but not for this model"))
    return session


def trim() -> None:
    """Give memory that sessions have freed back to the system; glibc would keep it."""
    import ctypes  # it costs time where nothing is run

    with contextlib.suppress(AttributeError, OSError, TypeError):  # of another C library
        ctypes.CDLL(None).malloc_trim(0)


def check_device(device: Device) -> None:
    """Raise RuntimeUnavailable where nothing can run there, or onnxruntime is not installed."""
    library()
    if device == "cuda":
        _require_cuda()


def resolved(device: Device) -> ResolvedDevice:
    """The device that `auto` stands for here: cuda where its provider loads, else cpu."""
    if device == "auto":
        return "cuda" if cuda_problem() is None else "cpu"
    return device


@cache
def cuda_problem() -> str | None:
    """Why the CUDA provider does not load, or None where it does."""
    onnxruntime = library()
    if CUDA not in onnxruntime.get_available_providers():
        return f"this onnxruntime {onnxruntime.__version__} was built without CUDA"
    if not _has_driver():
        return f"there is no NVIDIA driver here ({_DRIVER} does not load)"
    if __name__ != "__main__" and (crash := _crash_of_loading_cuda()):
        return crash
    with _captured() as said:
        if hasattr(onnxruntime, "preload_dlls"):
            onnxruntime.preload_dlls()
        try:
            probe = onnxruntime.InferenceSession(_PROBE, providers=[CUDA, CPU], enable_fallback=0)
        except _errors_of(onnxruntime) as error:
            return headline(error)
    _OPENED.add(probe)
    if CUDA in probe.get_providers():
        return None
    lines = [line for line in "".join(said).splitlines() if "error" in line.lower()]
    detail = lines[0].rsplit("with error: ", 1)[-1] if lines else "onnxruntime gave no reason"
    return f"its CUDA provider did not load: {detail}"


def cuda_is_loaded() -> bool:
    """Whether this process has loaded CUDA, which works in no fork of it; nothing is loaded."""
    return cuda_problem.cache_info().currsize > 0 and cuda_problem() is None


def _has_driver() -> bool:
    """Whether CUDA can be there at all: what onnxruntime would load for it is not touched."""
    import ctypes

    try:
        ctypes.CDLL(_DRIVER)
    except OSError:
        return False
    return True


def _crash_of_loading_cuda() -> str:
    """What a child died of that loaded CUDA's libraries first; damaged ones end a process."""
    work = processes.current()
    child = work.child(_MODULE, _CUDA_LIBRARIES)
    try:
        child.call({"do": "warm"})
    except ChildEnded as ended:
        if not ended.crashed:
            raise
        return f"loading {_CUDA_LIBRARIES}: {ended}; they are damaged, install them again"
    child.held["cuda"] = True
    child.settle()
    return ""


def assignments(
    model: bytes | Path, settings: Settings, *, apart: bool
) -> dict[str, str] | RunFailure:
    """The provider that each node is assigned to, by the node's name, without a run.

    Where nothing bounds the cost of opening it, it is opened `apart`, in a child process.
    """
    opens = open_apart if apart else open_session
    found = opens(model, replace(settings, records_assignment=True))
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
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if settings.folder is not None:
        options.add_session_config_entry(_FOLDER, str(settings.folder))
    if settings.records_assignment:
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    return options


def _cuda_options(settings: Settings) -> dict[str, str]:
    return {
        "use_tf32": str(int(settings.tf32)),
        "cudnn_conv_algo_search": settings.algorithms,
    }


def _require_library() -> None:
    if find_spec("onnxruntime") is None:
        raise RuntimeUnavailable(
            "onnxruntime is not installed, and without it no model can be run\n"
            "  try     pip install onnxruntime-gpu (it runs on the CPU as well), or onnxruntime"
        )


@cache
def library() -> Any:  # noqa: ANN401 - onnxruntime has no types
    """onnxruntime, which reports to nobody and says nothing on its own."""
    _require_library()
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


def _packed(value: Any, buffers: list[Buffer]) -> Any:  # noqa: ANN401 - whatever onnxruntime gives
    """A value as plain data; the cells of tensors go into `buffers`."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "OUS":
        if all(isinstance(item, str) for item in value.flat):
            return {"texts": value.reshape(-1).tolist(), "shape": value.shape}
        return {"items": [_packed(item, buffers) for item in value.flat]}
    if isinstance(value, list):
        return {"items": [_packed(item, buffers) for item in value]}
    if isinstance(value, dict):
        return {"pairs": [[key, _packed(item, buffers)] for key, item in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        kind = array.dtype.str if array.dtype.isbuiltin == 1 else array.dtype.name
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        buffers.append(flat.data)
        return {"dtype": kind, "shape": array.shape}
    return {"plain": value}


def _unpacked(packed: Mapping[str, Any], buffers: Iterator[Buffer]) -> Any:  # noqa: ANN401
    if "items" in packed:
        return [_unpacked(item, buffers) for item in packed["items"]]
    if "pairs" in packed:
        return {key: _unpacked(item, buffers) for key, item in packed["pairs"]}
    if "texts" in packed:
        return np.array(packed["texts"], dtype=object).reshape(packed["shape"])
    if "plain" in packed:
        return packed["plain"]
    return np.frombuffer(next(buffers), _dtype(packed["dtype"])).reshape(packed["shape"])


def _dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found


def _failed(found: RunFailure, said: Mapping[str, Any]) -> Reply:
    """A failure; MemoryError where it is for want of memory that the machine has.

    More than it has is refused without any limit, which is then no reason.
    """
    lacked = _LACKS_MEMORY.search(found.reason)
    if lacked and said.get("maps") is not None:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
        if int(lacked[1] or 0) <= machine:
            raise MemoryError(found.reason)
    return Reply({"failure": [found.stage, found.reason]}, [])


class _Served:
    """What a child process holds: open sessions by number."""

    def __init__(self) -> None:
        self._sessions: dict[int, Session] = {}
        self._last = 0

    def warm(self, _: Mapping[str, Any], __: list[Buffer]) -> Reply:
        return Reply({"problem": cuda_problem()}, [])

    def clear(self, _: Mapping[str, Any], __: list[Buffer]) -> Reply:
        self._sessions.clear()
        return Reply({}, [])

    def open(self, said: Mapping[str, Any], buffers: list[Buffer]) -> Reply:
        self._close(said)
        told = dict(said["settings"])
        told["folder"] = Path(told["folder"]) if told["folder"] else None
        told["disabled"] = tuple(told["disabled"])
        model = Path(said["path"]) if "path" in said else bytes(buffers[0])
        found = open_session(model, Settings(**told))
        if isinstance(found, RunFailure):
            return _failed(found, said)
        self._last += 1
        self._sessions[self._last] = found
        told = {"providers": found.providers, "outputs": found.outputs, "inputs": found.inputs}
        return Reply({"number": self._last, **told}, [])

    def run(self, said: Mapping[str, Any], buffers: list[Buffer]) -> Reply:
        self._close(said)
        rest = iter(buffers)
        feeds = {name: _unpacked(value, rest) for name, value in said["feeds"].items()}
        found = self._sessions[said["number"]].run(feeds, said["names"])
        if isinstance(found, RunFailure):
            return _failed(found, said)
        made: list[Buffer] = []
        return Reply({"values": [_packed(value, made) for value in found.values()]}, made)

    def assignments(self, said: Mapping[str, Any], _: list[Buffer]) -> Reply:
        return Reply({"assignments": self._sessions[said["number"]].assignments()}, [])

    def _close(self, said: Mapping[str, Any]) -> None:
        for number in said["closed"]:
            self._sessions.pop(number, None)


def _serve() -> None:
    library()  # its start is no cost of a model
    served = _Served()
    names = ("warm", "clear", "open", "run", "assignments")
    processes.serve({name: getattr(served, name) for name in names})


if __name__ == "__main__":
    _serve()
