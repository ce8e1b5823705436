"""validate(proof_only=True): what the formal kernel says, in the words of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnxpad
from onnxpad import RequestError, Validation, Verdict
from tests.proof.small_models import text

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "models" / "pd_same_static_op13.onnx"
CONV = """g (float[1,1,{size}] x{more}) => (float[a,b,c] y) <float[1,1,3] w = {{1, 2, 3}}>
    {{ y = Conv<{pads}>(x, w) }}"""
SAME = 'auto_pad = "SAME_UPPER"'


def conv(pads: str, size: str = "H", more: str = "", opset: int = 18) -> onnx.ModelProto:
    return text(CONV.format(size=size, pads=pads, more=more), opset)


def proof(before: onnx.ModelProto, after: onnx.ModelProto, **options: Any) -> Validation:
    return onnxpad.validate(before, after, proof_only=True, **options)


@pytest.mark.parametrize(
    ("dims", "pads", "said", "sizes"),
    [
        ({"H": 7}, "pads = [1, 1]", "inputs, where H=7", ()),
        ({"H": "%2==0"}, "pads = [0, 1]", "inputs and all sizes of H, where H%2=0", ("H",)),
    ],
)
def test_a_fact_about_a_size_decides_and_is_said(
    dims: dict[str, int | str], pads: str, said: str, sizes: tuple[str, ...]
) -> None:
    before, after = conv(f"{SAME}, strides = [2]"), conv(f"{pads}, strides = [2]")
    assert proof(before, after).verdict is Verdict.DIFFERENT
    found = proof(before, after, dims=dims)
    assert found.verdict is Verdict.PROVED
    assert found.reason.endswith(said)
    assert found.proof is not None
    assert found.proof.open_sizes == sizes


def test_the_counterexample_shows_the_difference_when_it_is_run() -> None:
    pytest.importorskip("onnxruntime")
    before = conv(SAME, more=", float[N,2] more")
    after = conv("pads = [0, 2]", more=", float[N,2] more")
    found = proof(before, after)
    shown = found.proof.counterexample if found.proof else None
    assert shown is not None
    inputs = dict(shown.inputs)
    assert set(inputs) == {"x", "more"}
    ran = onnxpad.validate(before, after, inputs=inputs, device="cpu")
    assert ran.verdict is Verdict.DIFFERENT
    assert shown.cell is not None
    for model, value in ((before, shown.cell.before), (after, shown.cell.after)):
        feeds = {name: one for name, one in inputs.items() if name == "x"}
        y = np.convolve(feeds["x"][0, 0], [3, 2, 1])  # cross-correlation with 1, 2, 3
        begin = 1 if model is before else 2
        assert np.isclose(y[shown.cell.index[2] + begin], value, rtol=1e-4)


def test_auto_pad_with_pads_is_decided_by_the_caller() -> None:
    both = conv(f"{SAME}, pads = [0, 2]")
    after = conv("pads = [0, 2]")
    assert proof(both, after).verdict is Verdict.UNVERIFIED
    found = proof(both, after, ambiguous="pads")
    assert found.verdict is Verdict.PROVED
    assert "judged by pads alone" in found.warnings[0]


@pytest.mark.parametrize("option", ["inputs", "device", "samples", "seed", "tf32"])
def test_options_of_runs_are_refused(option: str) -> None:
    values = {"inputs": {}, "device": "cpu", "samples": 5, "seed": 1, "tf32": True}
    with pytest.raises(RequestError, match=f"proof_only runs no model: leave {option} out"):
        proof(conv(SAME), conv(SAME), **{option: values[option]})


def test_a_proof_of_too_many_cells_says_what_helps() -> None:
    found = proof(conv(SAME), conv("pads = [1, 1]"), memory=100)
    assert found.verdict is Verdict.UNVERIFIED
    assert "too many cells to look at; with fixed sizes (--dim) it may be proved" in found.reason
    assert (
        "only runs can compare"
        in proof(conv(SAME, "9"), conv("pads = [1, 1]", "9"), memory=100).reason
    )
