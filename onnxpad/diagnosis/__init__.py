"""diagnose: which padding, node by node, reproduces what a framework computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.diagnosis.conclude import concluded, ended
from onnxpad.diagnosis.fit import Fitting
from onnxpad.diagnosis.layouts import readings
from onnxpad.diagnosis.report import (
    Alternative,
    Cause,
    Diagnosis,
    NodeFinding,
    RemainingDifference,
    Unseen,
)
from onnxpad.errors import InternalError, LimitMet, RequestError
from onnxpad.model.comparing.networks import Network
from onnxpad.model.files.external import refuse_lost_data
from onnxpad.model.opened import ModelLike, whole_model
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Preference, Preferences
from onnxpad.sessions import Device, Settings, resolved
from onnxpad.validation.bench import Bench, silent
from onnxpad.validation.recorded import Recorded, given_in, recorded, refuse_data_twice
from onnxpad.validation.request import GivenArrays, checked_inputs, checked_outputs
from onnxpad.validation.tolerance import tolerance_of
from onnxpad.verbs import verb

Array = NDArray[Any]

__all__ = [
    "Alternative",
    "Cause",
    "Diagnosis",
    "NodeFinding",
    "RemainingDifference",
    "Unseen",
    "diagnose",
]


@verb()
def diagnose(  # noqa: PLR0913 - each option is one word of the command line
    model: ModelLike,
    *,
    data: Recorded | None = None,
    inputs: GivenArrays | None = None,
    outputs: GivenArrays | None = None,
    device: Device = "auto",
    budget: float = 120.0,
    atol: float | None = None,
    rtol: float | None = None,
    ambiguous: Preference = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Diagnosis:
    """Find the padding with which a model computes reference outputs.

    `data` is a file or folder with the reference, or several, as --data takes them; or `inputs`
    and `outputs` map names to an array, or a list of one per sample. Outputs may hold intermediate
    tensors, which make the search sharper and quicker. Images with the other layout
    (NHWC, NCHW) are recognised where shapes tell, with a warning. The search fits the first
    sample and checks the others; it ends after `budget` seconds. Every try is run with
    onnxruntime, its optimisations off, on `device`; `timeout` and `memory` limit it as in
    `validate`, and the budget ends it too. With `atol` or `rtol` a run agrees where
    |a - b| <= atol + rtol * |b|, b of the reference, in place of the bound that rounding has.

    Raises RequestError for references that do not fit, ModelError for models that cannot be read,
    RuntimeUnavailable where `device` is cuda and its provider does not load.
    """
    if not budget > 0:
        raise RequestError(f"budget is {budget}: give seconds, more than 0")
    refuse_data_twice(data, inputs, outputs)
    if data is None and (inputs is None or outputs is None):
        raise RequestError("the reference is missing: give data, or inputs and outputs")
    started, tolerance = time.monotonic(), tolerance_of(atol, rtol)
    with processes.limited(timeout, memory) as work:
        bench = Bench(Settings(device=resolved(device)), progress=progress or silent)
        bench.tolerance = tolerance
        work.deadline = started + budget
        try:
            return _diagnosed(bench, model, (data, inputs, outputs), ambiguous, (started, budget))
        except LimitMet as limit:
            return ended(bench, limit.told, started)


def _diagnosed(
    bench: Bench,
    model: ModelLike,
    given: tuple[Recorded | None, GivenArrays | None, GivenArrays | None],
    ambiguous: Preference,
    time_given: tuple[float, float],
) -> Diagnosis:
    started, budget = time_given
    proto, folder = whole_model(model)
    refuse_lost_data(proto, folder)
    network = Network(proto, folder)
    data, inputs, outputs = given
    if data is not None:
        inputs, outputs = recorded(data, network, bench.warn)
    survey = Survey(proto, folder=folder, prefer=Preferences(ambiguous))
    samples = checked_inputs(network, network.input_types(), inputs or {}, bench.warn)
    expected = checked_outputs(network, outputs or {}, len(samples), bench.warn)
    ways = readings(bench, network, inputs or {}, samples, expected)
    known, unexplained, refused = len(bench.warnings), None, None
    for number, way in enumerate(ways):
        deadline = started + budget * (number + 1) / len(ways)
        try:
            fitting = Fitting(bench, network, survey, samples, way.expected, deadline)
        except RequestError as error:
            refused = refused or error
            continue
        fitting.in_doubt, fitting.budget = len(ways) > 1, budget
        if data is not None:
            fitting.given_in = given_in(data, len(samples))
        found = concluded(fitting, fitting.run(), started)
        if found.explained or len(ways) == 1:
            said = (way.warning,) if way.turned else ()
            return replace(found, warnings=(*found.warnings, *said))
        unexplained = unexplained or found
        del bench.warnings[known:]
    if unexplained is None:
        raise refused or InternalError("a reference is read in one way at least")
    doubt = next(way.doubt for way in ways if way.turned)
    return replace(unexplained, warnings=(*unexplained.warnings, doubt))
