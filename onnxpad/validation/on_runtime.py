"""A whole model in the runtimes of targets, as a validation."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from onnxpad.errors import RequestError, together
from onnxpad.model.comparing.networks import open_network
from onnxpad.model.files.delivery import save
from onnxpad.model.opened import ModelLike, open_model
from onnxpad.probing.live import open_live
from onnxpad.probing.whole import WholeRun, run_whole
from onnxpad.runtimes.own_targets import Asking, TargetName, asked_as
from onnxpad.runtimes.targets import find_targets
from onnxpad.sessions import Device
from onnxpad.validation.report import (
    NOBODY,
    SEVERITY,
    RunReport,
    Validation,
    Verdict,
)
from onnxpad.validation.request import GivenArrays, turned_inputs, with_recorded


def on_runtimes(
    before: ModelLike,
    after: ModelLike | None,
    target: TargetName | Sequence[TargetName],
    asking: Asking,
    facts: tuple[Mapping[str, int | str] | None, Mapping[str, Sequence[int]] | None],
    inputs: GivenArrays | None,
) -> tuple[WholeRun, ...]:
    """`after`, or `before` alone, in every runtime of a target, held against `before`.

    `facts` are what is told of dimensions, and of shapes of inputs.
    Raises RequestError and RuntimeUnavailable where a runtime cannot be asked.
    """
    asked = find_targets(target)
    tables = [asked_as(one.name) for one in asked.parts or (asked,) if one.has_own_rules]
    if tables:
        raise RequestError(
            f"{together(tables)}: a file of rules runs no model. inspect --target says what the "
            "rules are for a model; validate needs the program, such as --target ./npu.py"
        )
    network, warnings = open_network(before), list[str]()
    dims, feeds = with_recorded(warnings.append, network, None, *facts), None
    if inputs is not None:
        feeds = turned_inputs(network, network.input_types(dims), inputs, warnings.append)
    live = open_live(asked, asking)
    with ExitStack() as stack:
        stack.callback(live.close)
        path = _file_of(before if after is None else after, stack)
        whole = []
        for name, trials in live.trials.items():
            whole.append(
                run_whole(
                    *(before, path, name, trials.runner),
                    dims=dims,
                    inputs=feeds,
                    seconds=asking.seconds,
                    tell=asking.tell,
                )
            )
            if whole[-1].refuses:
                trials.check_start()
        return tuple(whole)


def _file_of(model: ModelLike, stack: ExitStack) -> str:
    """The path of a model; one in memory is written to a folder that goes with `stack`."""
    if isinstance(model, str | os.PathLike):
        return os.fspath(model)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="onnxpad-"))
    path = os.path.join(folder, "model.onnx")  # noqa: PTH118 - a text
    save(open_model(model).whole, path)
    return path


def with_runtimes(found: Validation | None, runs: Sequence[WholeRun], device: Device) -> Validation:
    """The validation with what runtimes of targets showed: the worst of all is the verdict."""
    worst = max(runs, key=lambda run: SEVERITY.index(_verdict(run)))
    verdict = _verdict(worst)
    report = RunReport(
        verdict,
        worst.sentence,
        str(worst.runtime),
        runtime=worst.runtime,
        largest_difference=worst.largest_difference,
        first_different=worst.first_difference,
    )
    if found is None:
        shapes = tuple(dict(run.shapes) for run in runs if run.shapes)[:1]
        judge = worst.reference or NOBODY
        return Validation(
            *(verdict, worst.sentence, judge, {}, device, 0),
            input_shapes=shapes,
            run=report,
            runtimes=tuple(runs),
        )
    if SEVERITY.index(verdict) < SEVERITY.index(Verdict.UNVERIFIED) or not found.ok:
        return replace(found, runtimes=tuple(runs))
    return replace(found, verdict=verdict, reason=worst.sentence, run=report, runtimes=tuple(runs))


def _verdict(run: WholeRun) -> Verdict:
    if run.ok is None:
        return Verdict.UNVERIFIED
    if not run.ok:
        return Verdict.DIFFERENT
    return Verdict.ROUNDING if run.largest_difference else Verdict.IDENTICAL
