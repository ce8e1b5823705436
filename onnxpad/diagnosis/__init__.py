"""diagnose: which padding, node by node, reproduces what a framework computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.diagnosis.conclude import concluded, ended
from onnxpad.diagnosis.fit import Fitting
from onnxpad.diagnosis.report import Alternative, Cause, Diagnosis, NodeFinding, RemainingDifference
from onnxpad.errors import LimitMet, RequestError
from onnxpad.model.comparing.networks import Network
from onnxpad.model.opened import ModelLike, whole_model
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Preference, Preferences
from onnxpad.sessions import Device, Settings, resolved
from onnxpad.validation.bench import Bench, silent
from onnxpad.validation.request import GivenArrays, checked_inputs, checked_outputs
from onnxpad.verbs import verb

Array = NDArray[Any]

__all__ = ["Alternative", "Cause", "Diagnosis", "NodeFinding", "RemainingDifference", "diagnose"]


@verb()
def diagnose(  # noqa: PLR0913 - each option is one word of the command line
    model: ModelLike,
    *,
    inputs: GivenArrays,
    outputs: GivenArrays,
    device: Device = "auto",
    budget: float = 120.0,
    ambiguous: Preference = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Diagnosis:
    """Find the padding with which a model computes reference outputs.

    `inputs` and `outputs` map names to an array, or a list of one per sample; outputs may hold
    intermediate tensors, which make the search sharper and quicker. Images with the other layout
    (NHWC, NCHW) are recognised where shapes tell, with a warning. The search fits the first
    sample and checks the others; it ends after `budget` seconds. Every try is run with
    onnxruntime, its optimisations off, on `device`; `timeout` and `memory` limit it as in
    `validate`, and the budget ends it too.

    Raises RequestError for references that do not fit, ModelError for models that cannot be read,
    RuntimeUnavailable where `device` is cuda and its provider does not load.
    """
    if not budget > 0:
        raise RequestError(f"budget is {budget}: give seconds, more than 0")
    started = time.monotonic()
    with processes.limited(timeout, memory) as work:
        bench = Bench(Settings(device=resolved(device)), progress=progress or silent)
        work.deadline = started + budget
        try:
            return _diagnosed(bench, model, (inputs, outputs), ambiguous, (started, budget))
        except LimitMet as limit:
            return ended(bench, str(limit), started)


def _diagnosed(
    bench: Bench,
    model: ModelLike,
    given: tuple[GivenArrays, GivenArrays],
    ambiguous: Preference,
    time_given: tuple[float, float],
) -> Diagnosis:
    (inputs, outputs), (started, budget) = given, time_given
    proto, folder = whole_model(model)
    network = Network(proto, folder)
    survey = Survey(proto, folder=folder, prefer=Preferences(ambiguous))
    samples = checked_inputs(network, network.input_types(), inputs, bench.warn)
    expected = checked_outputs(network, outputs, len(samples), bench.warn)
    fitting = Fitting(bench, network, survey, samples, expected, started + budget)
    return concluded(fitting, fitting.run(), started)
