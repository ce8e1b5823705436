"""Models are compared and run while their large weights stay in their files."""

import os
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxpad import ModelError, Verdict, validate
from onnxpad.validation.interface import matched

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no file is left unread there")
OLD = (1_000_000_000, 1_000_000_000)
SHAPE = (190, 190, 4, 4)


def model(*, pads: bool = False, seed: int = 0) -> ModelProto:
    """Two convolutions with 2.3 MB of weights each, of SAME_UPPER or with `pads`."""
    random = np.random.default_rng(seed)
    padded = {"pads": [1, 1, 2, 2]} if pads else {"auto_pad": "SAME_UPPER"}
    nodes = [
        helper.make_node("Conv", [f"t{at}", f"w{at}", "b"], [f"t{at + 1}"], **padded)
        for at in range(2)
    ]
    held = [(random.standard_normal(SHAPE) / 50).astype(np.float32) for _ in range(2)]
    constants = [numpy_helper.from_array(array, f"w{place}") for place, array in enumerate(held)]
    constants.insert(1, numpy_helper.from_array(np.ones(190, np.float32), "b"))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 190, 5, 5])],
        [helper.make_tensor_value_info("t2", TensorProto.FLOAT, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def written(path: Path, model: ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    os.utime(path, OLD)
    return path


def test_a_difference_in_the_last_bytes_of_a_weight_is_seen(tmp_path: Path) -> None:
    other = model(pads=True)
    tensor = other.graph.initializer[2]
    tensor.raw_data = tensor.raw_data[:-4] + np.float32(3).tobytes()
    paths = written(tmp_path / "m.onnx", model()), written(tmp_path / "n.onnx", other)
    found = validate(*paths, run_only=True, device="cpu", samples=1)
    assert found.verdict is Verdict.DIFFERENT


@pytest.mark.parametrize("options", [{"proof_only": True}, {"run_only": True, "device": "cpu"}])
def test_a_file_that_changes_meanwhile_is_an_error(
    tmp_path: Path, options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = written(tmp_path / "m.onnx", model())
    second = written(tmp_path / "n.onnx", model(pads=True))

    def changing(*given: object) -> object:
        first.write_bytes(model(seed=1).SerializeToString())
        return matched(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("onnxpad.validation.matched", changing)
    with pytest.raises(ModelError, match=r"m\.onnx: the file was changed while onnxpad worked"):
        validate(first, second, **options)  # type: ignore[arg-type]
