"""validate's default: a proof and runs side by side, and one verdict from both."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import onnx
import pytest

import onnxpad
from onnxpad import RequestError, RuntimeUnavailable, Validation, Verdict, sessions
from tests.proof.small_models import text
from tests.validation.test_optimised import FAULT, old_damage
from tests.validation.test_proof_only import SAME, conv


def both(before: onnx.ModelProto, after: onnx.ModelProto, **options: Any) -> Validation:
    pytest.importorskip("onnxruntime")
    return onnxpad.validate(before, after, device="cpu", **options)


@FAULT
def test_proved_and_a_run_that_differs_is_different_with_the_node() -> None:
    found = both(old_damage(axes=True, pads=[1, 1, 1, 1]), old_damage(pads=[1, 1, 1, 1]))
    assert found.proof is not None
    assert found.proof.verdict == "proved"
    assert found.verdict is Verdict.DIFFERENT
    said = "equal by the ONNX text; CPUExecutionProvider computes them differently: "
    assert found.reason.startswith(said)
    assert "default optimiser changes output 'y'" in found.reason


def test_proved_and_a_model_that_onnxruntime_does_not_open() -> None:
    padded = 't = Pad <mode = "constant"> (x, p, low) y = MaxPool <kernel_shape = [1]> (t)'
    own = "y = MaxPool <kernel_shape = [1], pads = [1, 1]> (x)"
    head = "g (float[1,1,9] x) => (float[a,b,c] y) <int64[6] p = {0,0,1,0,0,1}, float low = {-inf}>"
    found = both(text(f"{head} {{ {padded} }}"), text(f"{head} {{ {own} }}"))
    assert found.verdict is Verdict.DIFFERENT
    said = "equal by the ONNX text, but onnxruntime does not open the second model: "
    assert found.reason.startswith(said)


def test_what_the_text_tells_apart_is_different_although_onnxruntime_does_not() -> None:
    """onnxruntime 1.31.1 places SAME padding of a dilated pool as if there were no dilation."""
    window = "kernel_shape = [3], dilations = [2]"
    body = "g (float[1,1,9] x) => (float[a,b,c] y) {{ y = MaxPool<{}, {}>(x) }}"
    before, after = (text(body.format(window, pads)) for pads in (SAME, "pads = [1, 1]"))
    found = both(before, after)
    assert found.verdict is Verdict.DIFFERENT
    assert found.run is not None
    assert found.run.verdict is Verdict.IDENTICAL
    assert found.reason == (
        "by the ONNX text, y had the shape [1, 1, 9] and has [1, 1, 7], although all outputs are "
        "bit-equal in 4 samples"
    )


def test_without_onnxruntime_there_is_still_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    sessions._require_library.cache_clear()  # noqa: SLF001 - it remembers that there is one
    sessions.cuda_problem.cache_clear()
    models = conv(SAME), conv("pads = [1, 1]")
    found = onnxpad.validate(*models)
    assert (found.verdict, found.run) == (Verdict.PROVED, None)
    assert "; nothing was run: onnxruntime is not installed" in found.reason
    with pytest.raises(RuntimeUnavailable, match="onnxruntime is not installed"):
        onnxpad.validate(*models, device="cpu")
    with pytest.raises(RuntimeUnavailable, match="onnxruntime is not installed"):
        onnxpad.validate(*models, run_only=True)


def test_inputs_that_are_given_fix_the_sizes() -> None:
    before, after = (conv(f"{pads}, strides = [2]") for pads in (SAME, "pads = [0, 1]"))
    x = np.ones((1, 1, 8), np.float32)
    found = both(before, after, inputs={"x": x})
    assert found.verdict is Verdict.PROVED
    assert "for all values of the inputs, where H=8; all outputs are bit-equal" in found.reason
    assert both(before, after).verdict is Verdict.DIFFERENT


def test_inputs_of_several_sizes_are_all_that_runs_speak_of() -> None:
    before, after = (conv(f"{pads}, strides = [2]") for pads in (SAME, "pads = [0, 1]"))
    x = [np.ones((1, 1, size), np.float32) for size in (8, 10)]
    found = both(before, after, inputs={"x": x})
    assert found.verdict is Verdict.IDENTICAL
    assert found.proof is not None
    assert found.proof.reason.startswith("at other sizes than those given, y had the shape")


def test_what_cannot_be_drawn_is_still_proved() -> None:
    dims = {"H": 2**31}
    found = both(conv(SAME), conv("pads = [1, 1]"), dims=dims)
    assert (found.verdict, found.run) == (Verdict.PROVED, None)
    assert "; nothing was run: random inputs of these sizes have " in found.reason
    with pytest.raises(RequestError, match="random inputs of these sizes"):
        both(conv(SAME), conv("pads = [1, 1]"), dims=dims, run_only=True)


@pytest.mark.parametrize(
    "rest",
    [
        "y = Reshape (c, sizes)",
        "y = MaxPool <kernel_shape = [99]> (c)",
        "y = Softmax <axis = 9> (c)",
    ],
)
def test_models_without_a_result_are_not_proved_the_same(rest: str) -> None:
    """What both have is the same formula, which no runtime computes at any size."""
    head = "g (float[1,1,9] x) => (float[a,b,c] y) <float[1,1,3] w = {1, 2, 3}"
    body = f"{head}, int64[2] sizes = {{7, 11}}> {{ c = Conv <{{0}}> (x, w) {rest} }}"
    before, after = (text(body.replace("{0}", pads)) for pads in (SAME, "pads = [1, 1]"))
    found = both(before, after)
    assert found.verdict is Verdict.UNVERIFIED
    assert "neither model has a result" in found.reason


def test_a_report_of_models_that_nothing_runs_has_the_words_of_onnxruntime() -> None:
    from tests.validation.test_unrunnable import PADS, twins
    from tests.validation.test_unrunnable import SAME as SAME_UPPER

    found = both(twins(**SAME_UPPER), twins(**PADS))
    assert found.verdict is Verdict.PROVED
    assert found.run is not None
    assert found.run.refused.startswith("onnxruntime opens neither model: ")
    assert "twin" in found.run.refused
    fine = both(conv(SAME), conv("pads = [1, 1]")).run
    assert fine is not None
    assert fine.refused == ""
