"""What a CPU can tell of sessions on CUDA: how they are asked for, and that nothing falls back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import onnxpad
from onnxpad import RuntimeUnavailable, sessions
from onnxpad.sessions import CPU, CUDA, RunFailure, Session, Settings, served
from onnxpad.validation import bench, kernel_verdict
from tests.validation.builders import two_convs

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("tf32", [False, True])
def test_provider_options(tf32: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a session on CUDA is opened with; it is opened on the CPU."""
    asked: list[dict[str, Any]] = []
    library = served.library()
    genuine = library.InferenceSession

    def opened(model: object, options: object, **given: Any) -> Any:
        asked.append(given)
        session = genuine(model, options, providers=[CPU])
        monkeypatch.setattr(session, "get_providers", lambda: [CUDA, CPU])
        return session

    monkeypatch.setattr(library, "InferenceSession", opened)
    monkeypatch.setattr(served, "cuda_problem", lambda: None)
    settings = Settings(device="cuda", tf32=tf32)
    session = served.opened(two_convs().SerializeToString(), settings)
    assert not isinstance(session, RunFailure)
    (given,) = asked
    (name, options), last = given["providers"]
    assert (name, last, given["enable_fallback"]) == (CUDA, CPU, 0)
    assert options == {"use_tf32": "1" if tf32 else "0", "cudnn_conv_algo_search": "HEURISTIC"}


@pytest.mark.parametrize("tf32", [False, True])
def test_validate_asks_for_what_it_says_and_names_who_ran(
    tf32: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Settings] = []

    def opened(model: bytes, settings: Settings, more: int) -> Session:
        asked.append(settings)
        found = sessions.open_session(model, replace(settings, device="cpu"), more)
        assert isinstance(found, Session)
        found.providers = (CUDA, CPU)
        return found

    monkeypatch.setattr(bench, "open_session", opened)
    monkeypatch.setattr(sessions, "cuda_problem", lambda: None)
    models = two_convs(auto_pad="SAME_UPPER"), two_convs(pads=[1, 1, 1, 1])
    found = onnxpad.validate(*models, device="cuda", samples=1, tf32=tf32)
    assert found.device == "cuda"
    assert found.providers == {"before": (CUDA, CPU), "after": (CUDA, CPU)}
    assert {(one.device, one.tf32) for one in asked} == {("cuda", tf32)}


def test_cuda_that_is_not_there_is_an_error_before_anything_is_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def prove(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(kernel_verdict, "prove", prove)
    monkeypatch.setattr(sessions, "cuda_problem", lambda: "its libraries are missing")
    with pytest.raises(RuntimeUnavailable, match="device cuda: its libraries are missing"):
        onnxpad.validate(two_convs(), two_convs(), device="cuda")
