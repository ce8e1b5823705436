"""External data without a stated length: as much as the sizes need, as onnxruntime reads it."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnxpad import ModelError, validate
from onnxpad.model.comparing.networks import open_network

SIZE = 2**31


def saved(folder: Path, length: int | None = None) -> Path:
    """w holds 0, 1, 2, 3 at the begin of a file of 2 GiB that is nearly all hole."""
    with (folder / "w.bin").open("wb") as file:
        file.write(np.arange(4, dtype=np.float32).tobytes())
        file.truncate(SIZE)
    weight = TensorProto(name="w", dims=[4], data_type=1, data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="w.bin")
    if length is not None:
        weight.external_data.add(key="length", value=str(length))
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, [4])],
        [helper.make_tensor_value_info("y", 1, [4])],
        [weight],
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


def test_what_the_sizes_need_is_read(tmp_path: Path) -> None:
    path = saved(tmp_path)
    read = open_network(path).constant("w")
    assert read is not None
    assert read.tolist() == [0, 1, 2, 3]
    assert validate(path, path).ok


def test_another_length_is_refused_before_it_is_read(tmp_path: Path) -> None:
    network = open_network(saved(tmp_path, SIZE))
    with pytest.raises(ModelError, match=f"gives it {SIZE} bytes, and its sizes need 16"):
        network.constant("w")
