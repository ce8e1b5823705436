"""Files of samples that are no .npz files, and values that the model's type cannot hold."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxpad import RequestError
from tests.command import run
from tests.validation.builders import model, node, two_convs
from tests.validation.runs import validate

ONE = two_convs(pads=[1, 1, 1, 1])
X = np.random.default_rng(0).standard_normal((1, 3, 9, 8)).astype(np.float32)


def test_the_command_raises_no_other_error(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, X)
    path.write_bytes(path.read_bytes()[:90])
    (tmp_path / "m.onnx").write_bytes(ONE.SerializeToString())
    words = ["validate", *[str(tmp_path / "m.onnx")] * 2, "--inputs", str(path)]
    assert run(words) == 2


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (X.astype(np.complex128), "complex128, the model takes float32"),
        (X > 0, "bool, the model takes float32"),
        (X.astype(np.float64) * 1e300, "beyond float32"),
    ],
)
def test_values_that_the_model_cannot_take(value: Any, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        validate(ONE, ONE, inputs={"x": value}, device="cpu")


def test_nameless_inputs() -> None:
    with pytest.raises(RequestError, match="as a dict; got ndarray"):
        validate(ONE, ONE, inputs=X, device="cpu")  # type: ignore[arg-type]


def test_names_are_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, one=X, other=X)
    relu = model([node("Relu", ["x"], ["y"])], {}, shape=X.shape)
    with pytest.raises(RequestError, match="and no input"):
        validate(relu, data=path)
