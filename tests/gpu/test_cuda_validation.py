"""What CUDA does with padding, and that validation says so; skipped where no CUDA session opens."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from onnxpad import Verdict, sessions
from onnxpad.proof.alone import computed
from onnxpad.sessions import CPU, CUDA, RunFailure, Session, Settings, assignments, open_session
from tests.validation.builders import RANDOM, W1, model, node, two_convs, zero_extended
from tests.validation.runs import validate

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(
        sessions.cuda_problem() is not None, reason=f"no CUDA: {sessions.cuda_problem()}"
    ),
]
Array = NDArray[Any]
X = RANDOM.standard_normal((1, 3, 33, 30)).astype(np.float32) - 1
GPU = Settings(device="cuda")


def on_cuda(proto: object, settings: Settings = GPU) -> Array:
    session = open_session(proto.SerializeToString(), settings)  # type: ignore[attr-defined]
    assert isinstance(session, Session), session
    assert session.providers[0] == CUDA
    result = session.run({"x": X})
    assert not isinstance(result, RunFailure), result
    return result["y"]


def single(op: str, constants: dict[str, Array], **attributes: Any) -> Any:
    return model([node(op, ["x", *constants], ["y"], name="n", **attributes)], constants, opset=19)


POOLS = [
    ("AveragePool", {"pads": [0, 0, 1, 1]}),
    ("AveragePool", {"pads": [1, 0, 0, 1], "count_include_pad": 1}),
    ("AveragePool", {"pads": [0, 0, 1, 1], "strides": [2, 2], "ceil_mode": 1}),
    ("MaxPool", {"pads": [2, 2, 2, 2], "dilations": [2, 2]}),
    ("MaxPool", {"pads": [1, 0, 0, 1], "dilations": [2, 2]}),
]


@pytest.mark.parametrize(("op", "attributes"), POOLS)
def test_pools_on_cuda_follow_the_text_or_validation_says_so(
    op: str, attributes: dict[str, Any]
) -> None:
    """Older CUDA providers read begin pads only; the evaluator must notice whatever they do."""
    attributes = {"kernel_shape": [3, 3], **attributes}
    proto = single(op, {}, **attributes)
    right = computed(op, "", 19, attributes, [X])[0]
    got = on_cuda(proto)
    agrees = got.shape == right.shape and np.abs(got - right).max() < 1e-4
    padded = padded_form(op, attributes)
    if padded is None:
        assert agrees
        return
    report = validate(proto, padded, inputs={"x": X}, device="cuda")
    assert report.ok
    assert agrees or any("ONNX text" in warning for warning in report.warnings)


def padded_form(op: str, attributes: dict[str, Any]) -> Any | None:
    """The same with a Pad node, where that is exact."""
    if op == "AveragePool" and not attributes.get("count_include_pad"):
        return None
    rest = {name: value for name, value in attributes.items() if name != "pads"}
    begin = attributes["pads"][:2]
    end = attributes["pads"][2:]
    value = -np.inf if op == "MaxPool" else 0.0
    constants = {"p": np.array([0, 0, *begin, 0, 0, *end]), "v": np.array(value, np.float32)}
    nodes = [
        node("Pad", ["x", "p", "v"], ["xp"], name="pad"),
        node(op, ["xp"], ["y"], name="n", **rest),
    ]
    return model(nodes, constants, opset=19)


@pytest.mark.parametrize("pads", [[1, 1, 1, 1], [0, 1, 1, 0]])
def test_asymmetric_transposed_convolutions_and_where_they_run(pads: Sequence[int]) -> None:
    w = RANDOM.standard_normal((3, 4, 3, 3)).astype(np.float32)
    attributes = {"strides": [2, 2], "pads": list(pads)}
    proto = single("ConvTranspose", {"w": w}, **attributes)
    places = assignments(proto.SerializeToString(), GPU)
    assert not isinstance(places, RunFailure)
    assert set(places.values()) <= {CPU, CUDA}
    if pads[0] == pads[2]:
        assert places["n"] == CUDA
    (right, *_) = computed("ConvTranspose", "", 19, attributes, [X, w])
    assert np.abs(on_cuda(proto) - right).max() <= 1e-5 * np.abs(right).max()


def test_tf32_is_off_unless_asked_for() -> None:
    w = RANDOM.standard_normal((32, 3, 3, 3)).astype(np.float32)
    attributes = {"pads": [1, 1, 1, 1]}
    proto = single("Conv", {"w": w}, **attributes)
    (right,) = computed("Conv", "", 19, attributes, [X, w])
    most = float(np.abs(right).max())
    assert np.abs(on_cuda(proto) - right).max() <= 1e-5 * most
    coarse = on_cuda(proto, Settings(device="cuda", tf32=True))
    assert np.abs(coarse - right).max() <= 1e-2 * most


def test_two_runs_give_the_same_bits() -> None:
    proto = two_convs(pads=[1, 1, 1, 1])
    assert np.array_equal(on_cuda(proto), on_cuda(proto))


def test_validation_names_cuda_and_tells_rounding_from_padding() -> None:
    before = two_convs(pads=[1, 1, 2, 2])
    right = validate(before, two_convs(w=zero_extended(W1), pads=[2, 2, 2, 2]), device="cuda")
    assert right.ok, right.reason
    assert right.device == "cuda"
    assert {providers[0] for providers in right.providers.values()} == {CUDA}
    wrong = validate(before, two_convs(pads=[2, 2, 1, 1]), device="cuda")
    assert wrong.verdict is Verdict.DIFFERENT
    assert wrong.first_difference is not None
    assert wrong.first_difference.node == "Conv 'c1'"
