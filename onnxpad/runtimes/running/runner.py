"""Runners: a target's runtime, or one of the user's own, that runs models.

The first `run` starts the runtime. Its name and version are read from files before that.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired
from typing import Any, Literal, NamedTuple

import numpy as np

from onnxpad.errors import RequestError, RuntimeUnavailable
from onnxpad.processes import Group
from onnxpad.runtimes.own_targets import EXAMPLE
from onnxpad.runtimes.running import serving
from onnxpad.runtimes.running.headers import Header, headers_of
from onnxpad.runtimes.running.places import (
    digest,
    machine,
    node_place,
    place_of,
    processor,
    require_programs,
)
from onnxpad.runtimes.running.server import EndedError, Log, Server, StartError, how_ended
from onnxpad.runtimes.running.serving import BESIDE, decode, encode, fault

Array = np.ndarray[Any, Any]
Live = bool | str | os.PathLike[str]
Function = Callable[[str, dict[str, Array]], Mapping[str, Array]]

_LONGEST = 500
"""Characters of a message."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_NAMED = 3
"""Words of a command that name it."""
_SERVING = Path(serving.__file__)
_SETTINGS = {"OMP_NUM_THREADS": "1"}
"""Variables for adapters: one job is small, and several runtimes may run at once."""
_PARTS = ("{model}", "{inputs}", "{outputs}")
_EXAMPLE = f"'{EXAMPLE}', where inputs and outputs are .npz files"


class Reply(NamedTuple):
    """What a runtime did with a model and its inputs, before anybody judges it.

    status: "fell back" means that it ran, and left nodes to the CPU.
    message: why it did not run, on one line.
    outputs: arrays by name. A runtime may drop an output in silence, which is not here then.
    """

    status: Literal["ran", "fell back", "refused", "crash", "timeout"]
    message: str = ""
    outputs: Mapping[str, Array] = {}

    @property
    def has_run(self) -> bool:
        """Whether there are outputs to judge."""
        return self.status in ("ran", "fell back")


class _RefusedError(Exception):
    """The runtime does not run the model; the message says why."""


Computing = Callable[
    [str, Mapping[str, Array], Mapping[str, int], float], tuple[Mapping[str, Array], bool]
]
"""A run of a model's file: inputs, ranks of the outputs, seconds; the outputs, and whether a node
was left to the CPU."""


@dataclass
class Runner:
    """A runtime that runs models.

    target: a target's name without release, or the words that the user gave.
    title: the runtime's name, for people.
    key: changes with all that an answer depends on, besides the model and its inputs; empty where
        nobody knows that: for the user's own, one's own build, and what needs other programs.
    release: its version; empty where there is none.
    precision: which lowering of precision is switched off; empty where there is none to switch.
    needs: what is to be installed where it does not start.
    is_own: it is the user's, and must give each output that it is asked for.
    close: ends what was started.
    machine: the kind of processor.
    """

    target: str
    title: str
    compute: Computing
    key: str = ""
    release: str = ""
    precision: str = ""
    needs: str = ""
    is_own: bool = True
    close: Callable[[], None] = lambda: None
    machine: str = field(default_factory=machine)

    def run(
        self, model: str, inputs: Mapping[str, Array], outputs: Mapping[str, int], seconds: float
    ) -> Reply:
        """Run the model in a file, whose content stays the same under this path.

        `outputs` are names in the model's order with their ranks, or -1. Raises RuntimeUnavailable
        where the runtime does not start.
        """
        try:
            found, falls_back = self.compute(str(Path(model).absolute()), inputs, outputs, seconds)
        except StartError as error:
            needs = f"; {self.needs}" if self.needs else ""
            said = f"{self.title} does not start: {_brief(str(error))}{needs}"
            raise RuntimeUnavailable(said) from None
        except TimeoutError as error:
            return Reply("timeout", _brief(str(error)))
        except EndedError as error:
            return Reply("crash", _brief(str(error)))
        except _RefusedError as error:
            return Reply("refused", _brief(str(error)))
        except (OSError, TypeError, ValueError) as error:
            return Reply("refused", _brief(fault(error)))
        missing = [name for name in outputs if name not in found]
        if missing and self.is_own:
            gave = ", ".join(map(repr, found)) or "nothing"
            return Reply("refused", _brief(f"it gave no '{missing[0]}', but {gave}"))
        return Reply("fell back" if falls_back else "ran", "", found)


class _Served:
    """A file with `run`, served in a process that is kept from one run to the next."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
    ) -> None:
        self._start = partial(Server, command, environment, folder)
        self._server: Server | None = None
        self._lock = threading.Lock()

    def compute(
        self, model: str, inputs: Mapping[str, Array], outputs: Mapping[str, int], seconds: float
    ) -> tuple[Mapping[str, Array], bool]:
        """As Computing; after a crash beside earlier runs the job is asked once more, alone."""
        job = {"model": model, "inputs": encode(inputs), "outputs": dict(outputs)}
        with self._lock:
            was_used = self._server is not None
            try:
                return self._answer(job, seconds)
            except EndedError:
                if not was_used:
                    raise
                return self._answer(job, seconds)

    def _answer(self, job: Mapping[str, Any], seconds: float) -> tuple[Mapping[str, Array], bool]:
        server = self._server = self._server or self._start()
        try:
            answer = server.ask(job, seconds)
        except BaseException:
            self._end()
            raise
        if "refused" in answer:
            raise _RefusedError(_with_line(answer["refused"], server.log.last_line()))
        try:
            return decode(answer["outputs"]), bool(answer.get("fallback"))
        except (ImportError, KeyError, TypeError, ValueError) as error:
            raise _RefusedError(f"its answer cannot be read: {fault(error)}") from error

    def _end(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()


def _by_program(
    program: Sequence[str],
    model: str,
    inputs: Mapping[str, Array],
    _: Mapping[str, int],
    seconds: float,
) -> tuple[Mapping[str, Array], bool]:
    """Run a user's program, which reads and writes .npz files, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="onnxpad-") as folder, closing(Log()) as log:
        files = [model, f"{folder}/inputs.npz", f"{folder}/outputs.npz"]
        words = list(program)
        for part, file in zip(_PARTS, files, strict=True):
            words = [word.replace(part, file) for word in words]
        _write_arrays(files[1], inputs)
        group = Group(words, stdin=DEVNULL, stdout=log.file, stderr=log.file)
        try:
            code = group.program.wait(seconds)
        except TimeoutExpired:
            line = log.last_line()
            raise TimeoutError(f"no end within {seconds:g} s{line and f': {line}'}") from None
        finally:
            group.end()
        if code:
            raise (EndedError if code < 0 else _RefusedError)(how_ended(code, log.last_line()))
        if not Path(files[2]).exists():
            raise _RefusedError(_with_line("it wrote no {outputs}", log.last_line()))
        return _read_arrays(files[2]), False


def _by_function(
    function: Function, model: str, inputs: Mapping[str, Array], _: Mapping[str, int], __: float
) -> tuple[Mapping[str, Array], bool]:
    """Call a user's function in this process, where nothing ends it."""
    try:
        own = {name: np.array(array) for name, array in inputs.items()}
        answer = serving.answer(function(model, own))
        return decode(answer["outputs"]), answer["fallback"]
    except (Exception, SystemExit) as error:
        raise _RefusedError(fault(error)) from error


def runner_for(target: str, live: Live) -> Runner:
    """The runtime of a target, by its name without release.

    `live` is True for this Python, or the path of one that has the runtime; for a runtime of npm
    the folder with node_modules. Raises RequestError for a target that nothing here starts, and
    RuntimeUnavailable where a package or program is missing.
    """
    headers = headers_of(target)
    if not headers:
        raise RequestError(
            f"{target} is a table of rules, and nothing starts it from Python: use inspect or "
            f"rewrite without --live, or name a runtime of your own, such as {_EXAMPLE}"
        )
    folder = Path.cwd() if isinstance(live, bool) else Path(live)
    has_node = (folder / "node_modules").is_dir()
    header = next((one for one in headers if one.is_javascript == has_node), headers[0])
    return adapted(header, live)


def adapted(header: Header, live: Live) -> Runner:
    """The runtime that an adapter's header describes; errors are those of runner_for."""
    require_programs(header)
    is_node = header.is_javascript
    place = node_place(live, header.dependencies[0]) if is_node else place_of(live)
    alternatives = header.release or header.dependencies[:1]
    versions = {name: place.release(name) for name in (*alternatives, *header.others)}
    release = next((version for name in alternatives if (version := versions[name])), "")
    if not (release or place.has(header.module)):
        where = "this Python" if place.is_own else place.program
        raise RuntimeUnavailable(
            f"{header.target} needs {alternatives[0]} in {where}: {header.install}, or name a "
            "Python that has it: --live PYTHON"
        )
    serve = _SERVING.with_suffix(header.file.suffix)
    variables = _SETTINGS | dict(header.variables)
    code = [digest(serve), digest(header.file), place.version, processor()]
    key = json.dumps([versions, variables, code], sort_keys=True)
    is_released = bool(release) and not header.programs
    served = _Served(
        (place.program, str(serve), str(header.file)), place.environment | variables, place.folder
    )
    return Runner(
        header.target,
        header.title,
        served.compute,
        hashlib.sha256(key.encode()).hexdigest() if is_released else "",
        release,
        header.precision,
        f"it needs what this installs: {header.install}",
        is_own=False,
        close=served.close,
    )


def own_runner(
    spec: str | os.PathLike[str] | Function,
    live: Live = True,  # noqa: FBT002 - as everywhere
) -> Runner:
    """A runtime of the user's: a file with run(model, inputs), a command, or a callable.

    A file is run by this Python, or by the one that `live` names. Raises RequestError for what is
    none of them.
    """
    if not isinstance(spec, (str, os.PathLike)):
        if not callable(spec):
            raise RequestError(f"{spec!r} is no runtime: name a file, a command or a function")
        title = getattr(spec, "__name__", type(spec).__name__)
        return Runner(title, title, partial(_by_function, spec))
    words = os.fspath(spec)
    if Path(words).suffix == ".py" and (Path(words).exists() or not words.count(" ")):
        return _own_file(words, live)
    return _own_command(words)


def _own_file(words: str, live: Live) -> Runner:
    file = Path(words).resolve()
    if not file.is_file():
        raise RequestError(f"there is no file {words}; it must define run(model, inputs)")
    place = place_of(live)
    advice = "install that there, or ask for it in a call without --live"
    served = _Served((place.program, str(_SERVING), str(file), BESIDE), place.environment)
    needs = "" if isinstance(live, bool) else f"{place.program} of --live ran it: {advice}"
    return Runner(words, file.name, served.compute, needs=needs, close=served.close)


def _own_command(text: str) -> Runner:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise RequestError(f"the command {text} cannot be read: {error}") from None
    missing = [part for part in _PARTS if not any(part in word for word in words)]
    if missing:
        raise RequestError(
            f"the command '{text}' has no {' and no '.join(missing)}: write it such as {_EXAMPLE}"
        )
    program = shutil.which(words[0])
    if program is None:
        raise RequestError(f"there is no program {words[0]}, which '{text}' starts")
    named = list(takewhile(lambda word: word[:1] != "-" and "{" not in word, words))[:_NAMED]
    title = " ".join([Path(named[0]).name, *named[1:]]) if named else words[0]
    return Runner(text, title, partial(_by_program, [program, *words[1:]]))


def _brief(text: str) -> str:
    """A message on one line, shortened, without characters that a terminal cannot show."""
    plain = _COLOURS.sub("", text)
    printable = "".join(letter if letter.isprintable() else " " for letter in plain)
    return " ".join(printable.split())[:_LONGEST]


def _with_line(text: str, line: str) -> str:
    """A message, and what was printed last, if that is more."""
    return text if not line or line in text else f"{text}; {line}"


def _write_arrays(file: str, arrays: Mapping[str, Array]) -> None:
    """An .npz; TypeError for elements that it cannot hold. numpy's savez keeps names to itself."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            if array.dtype.kind in "OV":
                said = f"an .npz holds no {array.dtype}: use a .py with run(model, inputs)"
                raise TypeError(said)
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def _read_arrays(file: str) -> dict[str, Array]:
    """The arrays of an .npz; ValueError for anything else."""
    try:
        with Path(file).open("rb") as stream:
            return dict(np.load(stream, allow_pickle=False).items())
    except Exception as error:
        # zipfile, zlib and numpy have errors of many kinds for what a program wrote.
        said = "{outputs} is no .npz with a name for each array, as np.savez(file, y=...) writes"
        raise ValueError(f"{said}: {fault(error)}") from error
