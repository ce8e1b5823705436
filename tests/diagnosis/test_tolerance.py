"""A tolerance that the user asks for, and samples that say little, in diagnose and validate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onnxpad import validate
from onnxpad.cli import run
from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.errors import RequestError
from onnxpad.show.diagnoses import Around, diagnosis_document
from tests.diagnosis.test_hand_written_padding import CONV, END, HALF, one
from tests.retargeting.running import Array, outputs, signed

SHAPE = (1, 2, 32, 32)
WRONG, RIGHT = one(CONV, HALF, 3, 2, 32), one(CONV, END, 3, 2, 32)
X = signed(2, *SHAPE)
Y = outputs(RIGHT, X)[0]
NOISY = Y + 2e-3 * signed(5, *Y.shape)


def against(y: Array, atol: float | None = None, rtol: float | None = None) -> Diagnosis:
    return diagnose(WRONG, inputs={"x": X}, outputs={"y": y}, budget=20, atol=atol, rtol=rtol)


def test_a_reference_that_is_noisier_than_rounding_is_found_with_a_tolerance() -> None:
    assert not against(NOISY).explained
    found = against(NOISY, atol=0.02)
    assert (found.explained, found.cause) == (True, Cause.PADDING), found.reason
    (entry,) = found.plan.entries
    assert entry.settings["pads"] == [0, 0, 1, 1]
    assert found.tolerance is not None
    assert found.tolerance.met
    told = str(diagnosis_document(found))
    assert "tolerance: atol 0.02, rtol 0; the largest difference is 0." in told
    assert f"(limit {found.allowed:.2g})" in told  # the bound of rounding stands beside


def test_what_is_allowed_is_said_to_be_so() -> None:
    found = diagnose(RIGHT, inputs={"x": X}, outputs={"y": NOISY}, atol=0.02)
    assert (found.explained, found.cause, found.plan.entries) == (True, Cause.TOLERATED, ())
    assert found.reason.startswith("within the tolerance asked for (atol 0.02, rtol 0); by the")


def test_a_wide_tolerance_does_not_hide_padding_that_fits_better() -> None:
    found = against(Y, atol=100.0)
    assert found.cause is Cause.PADDING
    assert [entry.settings["pads"] for entry in found.plan.entries] == [[0, 0, 1, 1]]


def test_a_narrow_tolerance_refuses_what_rounding_would_explain() -> None:
    nearly = np.nextafter(Y, np.float32(100))
    assert against(nearly).explained
    found = against(nearly, atol=0.0, rtol=0.0)
    assert not found.explained


def test_a_negative_tolerance_is_refused() -> None:
    with pytest.raises(RequestError, match="atol is -1"):
        against(Y, atol=-1.0)


def test_the_command_takes_both_as_validate_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.onnx"
    path.write_bytes(WRONG.SerializeToString())
    np.savez(tmp_path / "r.npz", x=X, y=NOISY)
    words = [str(path), "--data", str(tmp_path / "r.npz")]
    assert run(["diagnose", *words, "--budget", "20", "--atol", "0.02"]) == 0
    assert "tolerance: atol 0.02" in capsys.readouterr().out
    assert run(["validate", *words, "--atol", "1e-9"]) == 1
    assert "--atol 1e-09 --plan plan.json" in capsys.readouterr().out
    helps = []
    for verb in ("validate", "diagnose"):
        run([verb, "--help"])
        helps.append(" ".join(capsys.readouterr().out.split()).partition("--atol A")[2][:200])
    assert helps[0] == helps[1]


@pytest.mark.parametrize("number", [0, 1])
def test_a_sample_that_tells_nothing_is_named_once(number: int) -> None:
    x = np.full(SHAPE, number, np.float32)
    y = outputs(WRONG, x)[0]
    for found in (
        diagnose(WRONG, inputs={"x": x}, outputs={"y": y}),
        validate(WRONG, inputs={"x": x}, outputs={"y": y}),
    ):
        (warning,) = [one for one in found.warnings if "holds the same number" in one]
        assert "in sample 0, which tells little" in warning


def test_samples_that_differ_are_not_named() -> None:
    assert not any("tells" in warning for warning in against(Y).warnings)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("damaged", [True, False])
def test_a_reference_that_was_rounded_before_it_was_saved_is_said_to_be(
    kind: str, *, damaged: bool
) -> None:
    right = outputs(RIGHT if damaged else WRONG, X)[0]
    if kind == "float16":
        saved = right.astype(np.float16).astype(np.float32)
    else:
        saved = ((right.view(np.uint32) + 0x8000) & 0xFFFF0000).view(np.float32)
    found = against(saved)
    assert (found.explained, found.cause) == (False, Cause.UNKNOWN), found.reason
    assert any(f"one that {kind} holds" in warning for warning in found.warnings)
    assert found.settling_atol is not None
    told = str(
        diagnosis_document(found, around=Around(again="onnxpad diagnose m.onnx --data r.npz"))
    )
    assert f": onnxpad diagnose m.onnx --data r.npz --atol {found.settling_atol:g}\n" in told
    again = against(saved, found.settling_atol)
    assert again.explained, again.reason


@pytest.mark.parametrize("noise", [NOISY - Y, (Y.round(3) - Y)], ids=["noise", "decimals"])
def test_what_else_is_left_is_not_allowed_for_unasked(noise: Array) -> None:
    """Another epsilon looks like that, which no tolerance mends."""
    found = against(Y + noise)
    assert (found.explained, found.cause, found.settling_atol) == (False, Cause.UNKNOWN, None)
    assert found.nearest is not None
    told = str(
        diagnosis_document(found, around=Around(again="onnxpad diagnose m.onnx --data r.npz"))
    )
    assert "--atol" not in told
    again = against(Y + noise, 0.02)
    assert [entry.settings["pads"] for entry in again.plan.entries] == [[0, 0, 1, 1]]


def test_what_float16_cannot_hold_is_not_searched_for() -> None:
    """No padding gives rounded numbers to the precision of float32: what is near is told soon."""
    rounded = against(NOISY.astype(np.float16).astype(np.float32))
    assert rounded.nearest is not None
    assert not rounded.complete
