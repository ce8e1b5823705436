"""diagnose: which padding, node by node, reproduces what a framework computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from onnxpad.diagnosis.conclude import concluded
from onnxpad.diagnosis.fit import Fitting
from onnxpad.diagnosis.report import Alternative, Cause, Diagnosis, NodeFinding, RemainingDifference
from onnxpad.errors import RequestError
from onnxpad.model.comparing.networks import Network
from onnxpad.model.opened import ModelLike, whole_model
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Preference, Preferences
from onnxpad.sessions import Device, Settings, resolved
from onnxpad.validation.bench import Bench, silent
from onnxpad.validation.request import GivenArrays, checked_inputs, checked_outputs

Array = NDArray[Any]

__all__ = ["Alternative", "Cause", "Diagnosis", "NodeFinding", "RemainingDifference", "diagnose"]


def diagnose(  # noqa: PLR0913 - each option is one word of the command line
    model: ModelLike,
    *,
    inputs: GivenArrays,
    outputs: GivenArrays,
    device: Device = "auto",
    budget: float = 120.0,
    ambiguous: Preference = None,
    progress: Callable[[str], None] | None = None,
) -> Diagnosis:
    """Find the padding with which a model computes reference outputs.

    `inputs` and `outputs` map names to an array, or a list of one per sample; outputs may hold
    intermediate tensors, which make the search sharper and quicker. Images with the other layout
    (NHWC, NCHW) are recognised where shapes tell, with a warning. The search fits the first
    sample and checks the others; it ends after `budget` seconds. Every try is run with
    onnxruntime, its optimisations off, on `device`.

    Raises RequestError for references that do not fit, ModelError for models that cannot be read,
    RuntimeUnavailable where `device` is cuda and its provider does not load.
    """
    if not budget > 0:
        raise RequestError(f"budget is {budget}: give seconds, more than 0")
    started = time.monotonic()
    bench = Bench(Settings(device=resolved(device)), progress=progress or silent)
    proto, folder = whole_model(model)
    network = Network(proto, folder)
    survey = Survey(proto, folder=folder, prefer=Preferences(ambiguous))
    samples = checked_inputs(network, network.input_types(), inputs, bench.warn)
    expected = checked_outputs(network, outputs, len(samples), bench.warn)
    fitting = Fitting(bench, network, survey, samples, expected, started + budget)
    return concluded(fitting, fitting.run(), started)
