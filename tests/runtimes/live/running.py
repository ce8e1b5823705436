"""Runs models in a runtime and judges what comes back."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import onnx

from onnxpad.errors import RuntimeUnavailable
from onnxpad.runtimes.running.runner import Array, Reply, Runner, adapted
from tests.runtimes.live import Runtime
from tests.runtimes.live.environments import Unavailable, place
from tests.runtimes.live.judging import Outcome, judge
from tests.runtimes.live.replies import keep, kept, key

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
        RuntimeUnavailable: it was made, and the runtime does not start in it.
    """
    judged = run(runtime, [Case(*case) for case in cases.values()], seconds)
    return dict(zip(cases, judged, strict=True))


def run(runtime: Runtime, cases: Sequence[Case], seconds: float = SECONDS) -> list[Outcome]:
    """The same for a list of cases, in its order."""
    runner = started(runtime)
    try:
        return [
            judge(reply, case.references, case.tolerance)
            for case, reply in zip(cases, _replies(runtime, runner, cases, seconds), strict=True)
        ]
    finally:
        runner.close()


def started(runtime: Runtime) -> Runner:
    """What runs models in the environment of `runtime`."""
    assert runtime.header is not None
    try:
        return adapted(runtime.header, place(runtime))
    except RuntimeUnavailable as error:
        raise Unavailable(str(error)) from error


def _replies(
    runtime: Runtime, runner: Runner, cases: Sequence[Case], seconds: float
) -> Iterator[Reply]:
    for case in cases:
        name = key(runtime, runner, case.model, case.inputs)
        reply = name and kept(name)
        if not reply:
            reply = runner.run(str(case.model), case.inputs, _outputs(case.model), seconds)
            if name:
                keep(name, reply)
        yield reply


def _outputs(model: Path) -> dict[str, int]:
    """Each with its declared rank, or -1: some runtimes only know tensors of one, and lose it."""
    graph = onnx.load(model, load_external_data=False).graph
    kinds = {output.name: output.type.tensor_type for output in graph.output}
    return {
        name: len(kind.shape.dim) if kind.HasField("shape") else -1 for name, kind in kinds.items()
    }
