"""Runs models in a runtime and compares what comes back with references; replies stay on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import onnx
import pytest

from onnxpad import RuntimeUnavailable
from onnxpad.model.small_models import with_output_shapes
from onnxpad.probing.agreement import worst
from onnxpad.probing.expected import expected
from onnxpad.probing.probes import ranks
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import Way
from onnxpad.runtimes.running import cache
from onnxpad.runtimes.running.runner import Array, Reply, Runner, adapted
from onnxpad.runtimes.running.serving import decode, encode
from tests.runtimes.live import Runtime
from tests.runtimes.live.environments import Unavailable, digest, folder, place

SECONDS = 90.0
NEAR = 2e-3
"""Of the largest reference value: half-precision kernels pass, a shifted pad fails."""
Key = TypeVar("Key", bound=Hashable)


class Outcome(NamedTuple):
    """What came of a model: ok, fallback (right, and not all on the device), wrong, refused, crash
    or timeout.
    """

    verdict: str
    message: str = ""
    outputs: Mapping[str, Array] = {}


class Case(NamedTuple):
    """A model file, its inputs, what each output should be (any may be missing), and how near.

    `tolerance` is absolute; without one floats may be NEAR off, and integers must be equal.
    """

    model: Path
    inputs: Mapping[str, Array]
    references: Mapping[str, Array]
    tolerance: float | None = None


def outcomes(
    runtime: Runtime, cases: Mapping[Key, Case], *, seconds: float = SECONDS
) -> dict[Key, Outcome]:
    """Run every case in one process of `runtime`, `seconds` each.

    Raises Unavailable where the environment of the runtime cannot be made here, and
    RuntimeUnavailable where the runtime does not start in it.
    """
    return dict(zip(cases, run(runtime, [*cases.values()], seconds), strict=True))


def run(runtime: Runtime, cases: Sequence[Case], seconds: float = SECONDS) -> list[Outcome]:
    """The same for a list of cases, in its order."""
    runner = started(runtime)
    try:
        replies = _replies(runtime, runner, cases, seconds)
        return [judge(reply, case) for reply, case in zip(replies, cases, strict=True)]
    finally:
        runner.close()


def verdicts_on(
    runtime: Runtime, models: Mapping[Key, tuple[onnx.ModelProto, dict[str, Array]]], at: Path
) -> dict[Key, str]:
    """What `runtime` makes of small models; the test is skipped where it is missing."""
    cases = {}
    for number, (key, (model, feeds)) in enumerate(models.items()):
        right = expected(model, feeds).outputs
        onnx.save(with_output_shapes(model, right), at / f"{number}.onnx")
        cases[key] = Case(at / f"{number}.onnx", feeds, right)
    try:
        return {key: one.verdict for key, one in outcomes(runtime, cases).items()}
    except Unavailable as reason:
        pytest.skip(str(reason))


def case_of(way: Way, at: Path) -> Case:
    """The model of a way as a file in a folder, whose outputs declare their shapes."""
    model, inputs = drafted(way.specimen)
    right = expected(model, inputs).outputs
    path = at / f"{hashlib.sha256(way.title.encode()).hexdigest()}.onnx"
    onnx.save(with_output_shapes(model, right), path)
    return Case(path, inputs, right)


def judge(reply: Reply, case: Case) -> Outcome:
    """Compare every output that has a reference; `case.tolerance` replaces what may be off."""
    if not reply.has_run:
        return Outcome(reply.status, reply.message)
    if case.references:
        name, apart = worst(reply.outputs, case.references, case.inputs, NEAR)
        is_near = case.tolerance is not None and apart.max_abs <= case.tolerance
        if not (apart.within or is_near):
            return Outcome("wrong", f"{name}: {apart.where}", reply.outputs)
    return Outcome("fallback" if reply.status == "fell back" else "ok", "", reply.outputs)


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
    """Kept by all that they depend on; a timeout is not, nor a model with data in other files."""
    at = folder() / "replies"
    for case in cases:
        content = case.model.read_bytes()
        fed = [
            f"{name} {x.dtype} {x.shape} {_hash(x.tobytes())}" for name, x in case.inputs.items()
        ]
        key = "\n".join([digest(runtime), runner.key, *fed, _hash(content)])
        keeps = b"location" not in content
        known: Any = cache.kept(key, at) if keeps else None
        if known:
            yield Reply(known["status"], known["message"], decode(known["outputs"]))
            continue
        model = onnx.load(case.model, load_external_data=False)
        reply = runner.run(str(case.model), case.inputs, ranks(model), seconds)
        if keeps and reply.status != "timeout":
            cache.keep(key, {**reply._asdict(), "outputs": encode(reply.outputs)}, at)
        yield reply


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
