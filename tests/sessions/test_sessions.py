import sys

import numpy as np
import pytest
from onnx import TensorProto, helper

from onnxpad import LimitMet, RuntimeUnavailable, processes, sessions
from onnxpad.processes import ChildEnded, Work
from onnxpad.sessions import (
    CPU,
    RunFailure,
    Session,
    Settings,
    assignments,
    open_session,
    served,
)
from tests.validation.builders import two_convs

X = np.random.default_rng(0).standard_normal((1, 3, 9, 8)).astype(np.float32)


def test_a_session_names_its_providers_and_outputs() -> None:
    session = open_session(two_convs().SerializeToString(), Settings())
    assert isinstance(session, Session)
    assert session.providers == (CPU,)
    result = session.run({"x": X})
    assert not isinstance(result, RunFailure)
    assert result["y"].shape == (1, 4, 7, 6)


def test_what_onnxruntime_refuses_is_a_value() -> None:
    opened = open_session(b"no model", Settings())
    assert isinstance(opened, RunFailure)
    assert opened.stage == "open"
    dilated = two_convs(auto_pad="SAME_UPPER", dilations=[2, 2])
    session = open_session(dilated.SerializeToString(), Settings())
    assert isinstance(session, Session)
    result = session.run({"x": X})
    assert isinstance(result, RunFailure)
    assert result.stage == "run"
    assert "Dilation not supported" in str(result)
    assert "\n" not in str(result)


def test_sequences_become_arrays_of_tensors() -> None:
    graph = helper.make_graph(
        [helper.make_node("SplitToSequence", ["x"], ["y"], axis=2)],
        "g",
        [helper.make_tensor_value_info("x", 1, ["a", "b", "c", "d"])],
        [helper.make_empty_tensor_value_info("y")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = open_session(proto.SerializeToString(), Settings())
    assert isinstance(session, Session)
    result = session.run({"x": X})
    assert not isinstance(result, RunFailure)
    assert result["y"].dtype == object
    assert result["y"].shape == (9,)


def test_each_node_is_assigned_to_a_provider() -> None:
    found = assignments(two_convs().SerializeToString(), Settings())
    assert found == {"c1": CPU, "relu": CPU, "c2": CPU}
    assert isinstance(assignments(b"no model", Settings()), RunFailure)


def test_cuda_without_its_libraries_is_an_error_that_says_why(
    capfd: pytest.CaptureFixture[str],
) -> None:
    sessions.cuda_problem.cache_clear()
    problem = sessions.cuda_problem()
    if problem is None:
        pytest.skip("the CUDA provider loads here")
    with pytest.raises(RuntimeUnavailable) as caught:
        open_session(two_convs().SerializeToString(), Settings(device="cuda"))
    assert problem in str(caught.value)
    assert "pip install '.[cuda]'" in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_provider_that_silently_stays_away_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    if served.cuda_problem() is None:
        pytest.skip("the CUDA provider loads here")
    monkeypatch.setattr(served, "cuda_problem", lambda: None)
    with pytest.raises(RuntimeUnavailable, match="not for this model"):
        served.opened(two_convs().SerializeToString(), Settings(device="cuda"))


def test_without_a_driver_nothing_of_cuda_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_DRIVER", "libnobody.so.1")
    sessions.cuda_problem.cache_clear()
    try:
        assert "no NVIDIA driver here (libnobody.so.1" in str(sessions.cuda_problem())
    finally:
        sessions.cuda_problem.cache_clear()


def test_libraries_that_crash_do_so_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    class Crashing:
        def call(self, _: object) -> None:
            raise ChildEnded("native code crashed (SIGBUS)", crashed=True)

    monkeypatch.setattr(sessions, "_has_driver", lambda: True)
    monkeypatch.setattr(Work, "child", lambda *_: Crashing())
    sessions.cuda_problem.cache_clear()
    try:
        problem = str(sessions.cuda_problem())
        assert "CUDA libraries of onnxruntime: native code crashed (SIGBUS)" in problem
    finally:
        sessions.cuda_problem.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what is mapped")
def test_a_tensor_beyond_the_limit_of_memory_meets_it_at_once() -> None:
    """It could be filled between two looks; what no machine has onnxruntime refuses by itself."""
    filled = helper.make_node("ConstantOfShape", ["n"], ["y"])
    graph = helper.make_graph(
        [filled],
        "g",
        [helper.make_tensor_value_info("n", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a"])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with processes.limited(memory="64M"):
        session = open_session(proto.SerializeToString())
        assert isinstance(session, Session)
        assert isinstance(session.run({"n": np.array([2**50])}), RunFailure)
        with pytest.raises(LimitMet, match="onnxruntime took more than 64 MiB of memory"):
            session.run({"n": np.array([2**29])})
