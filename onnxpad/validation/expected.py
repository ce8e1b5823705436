"""What a model computes by the ONNX text, and whether onnxruntime agrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import LimitMet, OnnxpadError, RuntimeUnavailable, headline
from onnxpad.model.comparing.networks import Network, open_network
from onnxpad.model.opened import Model
from onnxpad.sessions import RunFailure, Settings
from onnxpad.validation.bench import Bench
from onnxpad.validation.trace import trace

Array = NDArray[Any]
_NEAR = 1e-3


class Expected(NamedTuple):
    """Outputs by name; nothing and the reason where the text gives them no meaning.

    `onnxruntime` says what onnxruntime without optimisations makes of the model.
    """

    outputs: Mapping[str, Array]
    reason: str
    onnxruntime: str


@processes.limited()
def expected(model: Model, feeds: Mapping[str, Array]) -> Expected:
    """Padded operators by the text in float64, every other one alone in onnxruntime.

    Raises RuntimeUnavailable where an operator needs onnxruntime and there is none.
    """
    network, bench = open_network(model), Bench(Settings())
    try:
        with np.errstate(all="ignore"):
            traced = trace(bench, network, range(len(network.nodes)), feeds, None)
        found = {name: traced[name].stored() for name in network.outputs}
    except (RuntimeUnavailable, LimitMet):
        raise
    except OnnxpadError as reason:
        return Expected({}, headline(reason), _in_onnxruntime(bench, network, feeds, {}))
    return Expected(found, "", _in_onnxruntime(bench, network, feeds, found))


def _in_onnxruntime(
    bench: Bench, network: Network, feeds: Mapping[str, Array], right: Mapping[str, Array]
) -> str:
    try:
        ran = bench.run(network, feeds)
    except RuntimeUnavailable:
        return "is not installed here"
    if isinstance(ran, RunFailure):
        return f"does not {ran.stage} it: {ran}"
    if not right:
        return "runs it"
    same = all(is_near(ran[name], value) for name, value in right.items())
    return "computes the same" if same else "computes something else"


def is_near(got: Array, right: Array) -> bool:
    """Whether two results are the same up to rounding, as reproducers compare them."""
    if got.shape != right.shape:
        return False
    one, other = got.astype(np.float64), right.astype(np.float64)
    return bool(np.allclose(one, other, _NEAR, _NEAR, equal_nan=True))
