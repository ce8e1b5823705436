"""External data without a stated length: as much as the sizes need, as onnxruntime reads it."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from onnxpad import validate

SIZE = 2**31


def saved(folder: Path) -> Path:
    """w holds 0, 1, 2, 3 at the begin of a file of 2 GiB that is nearly all hole."""
    with (folder / "w.bin").open("wb") as file:
        file.write(np.arange(4, dtype=np.float32).tobytes())
        file.truncate(SIZE)
    weight = TensorProto(name="w", dims=[4], data_type=1, data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="w.bin")
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
    given, right = np.zeros(4, np.float32), np.arange(4, dtype=np.float32)
    assert validate(path, inputs={"x": given}, outputs={"y": right}).verdict == "identical"
    assert validate(path, path).ok
