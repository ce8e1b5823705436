"""Where something goes wrong that nobody expects, a file that is not valid is blamed for it."""

from pathlib import Path

import onnx
import pytest
from onnx import ModelProto

from onnxpad import ModelError, inspect, inspection

MODEL = Path(__file__).resolve().parents[2] / "models" / "kt_net_even.onnx"


def no_inputs() -> ModelProto:
    model = onnx.load(MODEL)
    del model.graph.node[1].input[:]
    return model


@pytest.fixture(autouse=True)
def _something_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(inspection, "_records", broken)


@pytest.mark.parametrize("in_a_file", [False, True])
def test_an_invalid_model_is_blamed(in_a_file: bool, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(no_inputs().SerializeToString())
    with pytest.raises(ModelError, match=r"onnx's checker refuses it: Node.*mend it, or ex"):
        inspect(path if in_a_file else no_inputs())


def test_a_valid_model_is_not() -> None:
    with pytest.raises(IndexError):
        inspect(MODEL)


def test_data_that_lies_elsewhere_is_no_fault() -> None:
    model = onnx.load(MODEL)
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], "absent.bin")
    with pytest.raises((IndexError, ModelError)) as caught:
        inspect(model)
    assert "checker" not in str(caught.value)
