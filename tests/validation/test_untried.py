"""What samples do not try: other values than defaults, sizes compared with, two ways of padding."""

import numpy as np
import onnx
import pytest

import onnxpad
from onnxpad.validation import Verdict
from tests.proof.small_models import text
from tests.validation.runs import validate

PADDED = """g (float[1,1,8] x, int64[6] p) => (float[a,b,c] y)
<int64[6] p = {{0, 0, 0, 0, 0, 0}}> {{
  t = {front}
  y = MaxPool<kernel_shape = [2]>(t)
}}"""


def padded(front: str) -> onnx.ModelProto:
    return text(PADDED.format(front=front))


def test_a_caller_who_replaces_a_default_gets_something_else() -> None:
    pytest.importorskip("onnxruntime")
    report = onnxpad.validate(padded("Pad(x, p)"), padded("Identity(x)"), device="cpu")
    assert report.verdict is Verdict.DIFFERENT
    assert "where a caller gives p" in report.reason
    assert report.proof is not None
    assert report.proof.counterexample is not None
    assert np.any(report.proof.counterexample.inputs["p"])
    assert report.run is not None
    assert report.run.counterexample is Verdict.DIFFERENT


def test_without_a_proof_it_is_said_that_defaults_alone_were_run() -> None:
    report = validate(padded("Pad(x, p)"), padded("Identity(x)"), device="cpu")
    assert report.verdict is Verdict.IDENTICAL
    (warning,) = report.warnings
    assert warning.startswith("callers may give 'p' in place of its initializer")
    fixed = text(PADDED.format(front="Pad(x, p)").replace(", int64[6] p)", ")"))
    assert validate(fixed, fixed, device="cpu").warnings == ()


def test_what_differs_at_large_open_sizes_alone_is_warned_of() -> None:
    """No proof looks at so many sizes, and no sample is that large."""
    pytest.importorskip("onnxruntime")
    one, other = (
        text(
            f"g (float[1,1,h] x) => (float[1,1,w] y) {{ "
            f"y = MaxPool<kernel_shape = [1], strides = [{stride}]>(x) }}"
        )
        for stride in (300, 301)
    )
    report = onnxpad.validate(one, other, device="cpu")
    assert report.verdict is Verdict.IDENTICAL
    assert any("'x'" in warning and "open" in warning for warning in report.warnings)


def test_auto_pad_beside_pads_is_said_even_where_they_are_0() -> None:
    plain = "g (float[1,1,8] x) => (float[a,b,c] y) {{ y = MaxPool<kernel_shape = [2]{}>(x) }}"
    before = text(plain.format(""))
    after = text(plain.format(', auto_pad = "VALID", pads = [0, 0]'))
    report = validate(before, after, device="cpu")
    assert report.verdict is Verdict.IDENTICAL
    (warning,) = report.warnings
    assert warning.startswith("MaxPool 'y' of the second model has auto_pad and pads, which runtim")
    assert not validate(after, after, device="cpu").warnings
