"""diagnose: which padding, node by node, reproduces what a framework computed.

The weights are right and frameworks pad in few ways: so try those, and keep what gives the
reference. `options` has the ways of each node, `runner` runs a network with one of them at each,
and `score` says how near that comes. `fitting` leads: the model as it is; `search` with `guesses`
of the whole network, then `preparations` of the inputs, single nodes and `fills`; what matches
becomes a `plan` that is written, judged on every sample, and held against its rivals. `conclusion`
makes the `report` of it: a cause is named only where nothing else is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from onnxpad import processes
from onnxpad.diagnosis.conclusion import concluded, ended
from onnxpad.diagnosis.fitting import Fitting
from onnxpad.diagnosis.report import (
    Alternative,
    Cause,
    Diagnosis,
    NodeFinding,
    RemainingDifference,
    Unseen,
)
from onnxpad.errors import LimitMet, RequestError
from onnxpad.model.comparing.networks import Network
from onnxpad.model.files.external import refuse_lost_data
from onnxpad.model.opened import ModelLike, open_model
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Preference, Preferences
from onnxpad.sessions import Device, Settings, resolved
from onnxpad.validation.bench import Bench, silent
from onnxpad.validation.recorded import Recorded, recorded, refuse_data_twice
from onnxpad.validation.request import GivenArrays, checked_inputs, checked_outputs, in_layout
from onnxpad.validation.tolerance import tolerance_of
from onnxpad.verbs import verb

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
            opened = open_model(model)
            proto, folder = opened.whole, opened.folder
            refuse_lost_data(proto, folder)
            network = Network(proto, folder)
            if data is not None:
                inputs, outputs = recorded(data, network, bench.warn)
            survey = Survey(proto, folder=folder, prefer=Preferences(ambiguous))
            samples = checked_inputs(network, network.input_types(), inputs or {}, bench.warn)
            expected = checked_outputs(network, outputs or {}, len(samples), bench.warn)
            expected = in_layout(bench, network, samples, expected)
            fitting = Fitting(bench, survey, network, samples, expected, started + budget)
            return concluded(fitting, fitting.run(), started)
        except LimitMet as limit:
            return ended(bench, str(limit), started)
