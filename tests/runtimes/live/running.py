"""Runs models in a runtime and judges what comes back."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import onnx

from tests.runtimes.live import Runtime
from tests.runtimes.live.judging import Outcome, judge
from tests.runtimes.live.processes import Died, Process
from tests.runtimes.live.replies import Array, Reply, keep, kept, key
from tests.runtimes.live.serving import decode, encode

SECONDS = 90.0

Key = TypeVar("Key")


class Case(NamedTuple):
    """A model file, its inputs, what each output should be (any may be missing), and how near.

    `tolerance` is absolute; without one it is 2e-3 of the largest reference value for floats, and
    none for integers.
    """

    model: Path
    inputs: Mapping[str, Array]
    references: Mapping[str, Array]
    tolerance: float | None = None


def outcomes(
    runtime: Runtime,
    cases: Mapping[Key, Case | tuple[Path, Mapping[str, Array], Mapping[str, Array]]],
    *,
    seconds: float = SECONDS,
) -> dict[Key, Outcome]:
    """Run every case in one process of `runtime`, `seconds` each; replies are kept on disk.

    Raises:
        Unavailable: the environment of the runtime cannot be made here.
        RuntimeError: it was made, and the worker does not start in it.
    """
    judged = run(runtime, [Case(*case) for case in cases.values()], seconds)
    return dict(zip(cases, judged, strict=True))


def run(runtime: Runtime, cases: Sequence[Case], seconds: float = SECONDS) -> list[Outcome]:
    """The same for a list of cases, in its order."""
    names = [key(runtime, case.model, case.inputs) for case in cases]
    found = [None if name is None else kept(name) for name in names]
    fresh = _served(runtime, [c for c, r in zip(cases, found, strict=True) if r is None], seconds)
    judged = []
    for case, name, old in zip(cases, names, found, strict=True):
        reply = old
        if reply is None:
            reply = next(fresh)
            if name is not None:
                keep(name, reply)
        judged.append(judge(reply, case.references, case.tolerance))
    return judged


def _served(runtime: Runtime, cases: Sequence[Case], seconds: float) -> Iterator[Reply]:
    process: Process | None = None
    try:
        for case in cases:
            used = process is not None
            process = process or Process(runtime)
            reply = _reply(process, case, seconds)
            if reply.status == "crash" and used:
                # Memory that an earlier model damaged may kill a later one: ask again, alone.
                process.close()
                process = Process(runtime)
                reply = _reply(process, case, seconds)
            if reply.status in ("crash", "timeout"):
                process.close()
                process = None
            yield reply
    finally:
        if process is not None:
            process.close()


def _reply(process: Process, case: Case, seconds: float) -> Reply:
    try:
        answer = process.ask(_job(case), seconds)
    except TimeoutError as error:
        return Reply("timeout", str(error))
    except Died as error:
        return Reply("crash", str(error))
    if "refused" in answer:
        return Reply("refused", f"{answer['refused']} {process.printed()}".strip())
    status: Literal["ran", "fell back"] = "fell back" if answer.get("fallback") else "ran"
    return Reply(status, "", decode(answer["outputs"]))


def _job(case: Case) -> dict[str, Any]:
    graph = onnx.load(case.model, load_external_data=False).graph
    return {
        "model": str(case.model.resolve()),
        "inputs": encode(dict(case.inputs)),
        "outputs": {output.name: _rank(output) for output in graph.output},
    }


def _rank(value: onnx.ValueInfoProto) -> int:
    """The declared rank, or -1: some runtimes only know tensors of one rank, and lose it."""
    kind = value.type.tensor_type
    return len(kind.shape.dim) if kind.HasField("shape") else -1
