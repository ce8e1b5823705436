"""What a CPU can tell of sessions on CUDA: how they are asked for, and that nothing falls back."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import pytest

import onnxpad
from onnxpad import sessions
from onnxpad.errors import RuntimeUnavailable
from onnxpad.sessions import CPU, CUDA, Algorithms, Session, Settings, open_session
from onnxpad.validation import kernel_verdict
from tests.validation.builders import two_convs

pytest.importorskip("onnxruntime")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What sessions on CUDA are opened with; they are opened on the CPU."""
    found: list[dict[str, Any]] = []
    library = sessions.library()
    genuine = library.InferenceSession

    def opened(model: object, options: object, **given: Any) -> Any:
        found.append(given)
        session = genuine(model, options, providers=[CPU])
        monkeypatch.setattr(session, "get_providers", lambda: [CUDA, CPU])
        return session

    monkeypatch.setattr(library, "InferenceSession", opened)
    monkeypatch.setattr(sessions, "cuda_problem", lambda: None)
    return found


@pytest.mark.parametrize(("tf32", "how"), list(product([False, True], get_args(Algorithms))))
def test_provider_options(tf32: bool, how: Algorithms, asked: list[dict[str, Any]]) -> None:
    settings = Settings(device="cuda", tf32=tf32, algorithms=how)
    session = open_session(two_convs().SerializeToString(), settings)
    assert isinstance(session, Session)
    (given,) = asked
    (name, options), last = given["providers"]
    assert (name, last, given["enable_fallback"]) == (CUDA, CPU, 0)
    assert options == {"use_tf32": "1" if tf32 else "0", "cudnn_conv_algo_search": how}


@pytest.mark.parametrize("tf32", [False, True])
def test_validate_asks_for_what_it_says_and_names_who_ran(
    tf32: bool, asked: list[dict[str, Any]]
) -> None:
    models = two_convs(auto_pad="SAME_UPPER"), two_convs(pads=[1, 1, 1, 1])
    found = onnxpad.validate(*models, device="cuda", samples=1, tf32=tf32)
    assert found.device == "cuda"
    assert found.providers == {"before": (CUDA, CPU), "after": (CUDA, CPU)}
    assert {given["providers"][0][1]["use_tf32"] for given in asked} == {str(int(tf32))}


def test_cuda_that_is_not_there_is_an_error_before_anything_is_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def prove(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(kernel_verdict, "prove", prove)
    monkeypatch.setattr(sessions, "cuda_problem", lambda: "its libraries are missing")
    with pytest.raises(RuntimeUnavailable, match="device cuda: its libraries are missing"):
        onnxpad.validate(two_convs(), two_convs(), device="cuda")
