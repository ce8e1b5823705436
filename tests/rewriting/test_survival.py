"""What other tools lose: all that is not padding, and memory, with weights in a file."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad import rewrite
from tests.models.proto_differences import differences
from tests.names import PASSES
from tests.oracle.interpreter import run_model

ROOT = Path(__file__).resolve().parents[2]
UNKNOWN = bytes([0xC2, 0x3E, 3]) + b"any"
"""Field 1000 with three bytes, which no message of onnx has."""

DECORATED = """
<ir_version: 10, opset_import: ["": 18, "local": 1, "com.microsoft": 1],
 producer_name: "a tool", producer_version: "1.2", domain: "d", model_version: 7,
 doc_string: "of the model", metadata_props: ["author": "somebody", "stage": "3"]>
decorated (float[1,1,H] x) => (float[1,1,K] y)
<float[1,1,3] w2 = {-1, 2, 3}, int64[6] p = {0, 0, 1, 0, 0, 1}, float[1,1,3] w1 = {1, -10, 100},
 float[4] spare = {1, 2, 3, 4}, float[1,1,5] a>
{
  [pad] a = Pad (x, p)
  [same] b = Conv <auto_pad = "SAME_UPPER", dilations = [2], group = 1> (a, w1)
  [padded] c = Conv <pads = [2, 0], strides = [1]> (b, w2)
  [pool] d = AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1> (c)
  [rest] y = local.f (d)
}
<opset_import: ["": 18], domain: "local", doc_string: "of the function">
f (v) => (r) { [inner] r = Relu (v) }
"""


MORE = """
  [up] e = ConvTranspose <auto_pad = "SAME_UPPER", strides = [2]> (d, w2)
  [ceil] g = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (e)
  [norm] h = LpPool <kernel_shape = [3], pads = [1, 0]> (g)
  [symmetric] i = Conv <pads = [1, 1]> (h, w1)
  [rest] y = local.f (i)"""


def decorated(text: str = DECORATED) -> onnx.ModelProto:
    """A model with everything on it that rewriters are known to lose."""
    model: onnx.ModelProto = onnx.parser.parse_model(text)
    graph = model.graph
    graph.doc_string = "of the graph"
    onnx.helper.set_model_props(model, {"author": "somebody", "stage": "3"})
    graph.metadata_props.add(key="graph", value="fact")
    for node in graph.node:
        node.doc_string = f"of {node.name}"
        node.metadata_props.add(key="from", value=f"layer {node.name}")
        for attribute in node.attribute:
            if attribute.name != "pads":
                attribute.doc_string = f"of {attribute.name}"
        node.MergeFromString(UNKNOWN)
    for tensor in graph.initializer:
        tensor.doc_string = f"of {tensor.name}"
        tensor.metadata_props.add(key="quantised", value="no")
        tensor.MergeFromString(UNKNOWN)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        value.doc_string = f"of {value.name}"
        value.MergeFromString(UNKNOWN)
    note = graph.quantization_annotation.add(tensor_name="b")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w1")
    model.training_info.add().algorithm.name = "none"
    for message in (model, graph, note, model.functions[0], model.opset_import[0]):
        message.MergeFromString(UNKNOWN)
    return model


def touched(path: str, names: set[str]) -> bool:
    """Whether a difference belongs to one of the named nodes."""
    kind, _, rest = path.removeprefix("graph.").partition("[")
    name = rest.split("]")[0]
    owned = any(name == one or name.startswith(f"{one}/") for one in names)
    if kind == "node":
        return owned or path == "graph.node[pad]: removed"
    # A Pad that went takes its constants and the types of its result along; a new constant may
    # be named after the one that it was made from.
    return kind in ("initializer", "value_info") and (owned or path.endswith(("removed", "added")))


@pytest.mark.parametrize("rule", PASSES)
def test_other_nodes_stay_as_they_are(rule: str) -> None:
    model = decorated(DECORATED.replace("[rest] y = local.f (d)", MORE))
    done = rewrite(model, passes=[rule])
    assert isinstance(done.model, onnx.ModelProto)
    names = {change.node.label for change in done.changes}
    found = differences(model, done.model)
    # Between two operators that lift-rank lifts no tensor of fewer axes is left to be annotated.
    made = {name for node in done.model.graph.node for name in node.output}
    gone = {f"graph.quantization_annotation[{name}]: removed" for name in {"b"} - made}
    assert [path for path in found if not touched(path, names) and path not in gone] == []
    assert bool(found) is done.changed
    x = np.asarray([[[-3, 5, -7, 2, 11]]], np.float32)
    after = run_model(done.model, {"x": x})["y"]
    np.testing.assert_allclose(after, run_model(model, {"x": x})["y"], rtol=1e-5)


def test_nothing_differs_where_nothing_is_done(tmp_path: Path) -> None:
    path, out = tmp_path / "in.onnx", tmp_path / "out.onnx"
    settled = rewrite(decorated()).model
    assert isinstance(settled, onnx.ModelProto)
    path.write_bytes(settled.SerializeToString() + UNKNOWN)
    rewrite(path).save(out)
    assert out.read_bytes() == path.read_bytes()


LARGE = 2_200_000_000
MEASURE = """
import json, pathlib, sys
from onnxpad import rewrite
done = rewrite(sys.argv[1], passes=["explicit-pads", "split-pads"])
done.save(sys.argv[2])
status = pathlib.Path("/proc/self/status").read_text()
peak = 1024 * next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)
print(json.dumps([peak, [change.rule for change in done.changes]]))
"""


def large_model(folder: Path) -> tuple[Path, Path]:
    """A convolution with 2.2 GB of weights, in a file with holes that takes no place on disk."""
    weights = folder / "weights.bin"
    with weights.open("wb") as file:
        file.truncate(LARGE)
    w = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[55_000, 1000, 10])
    w.data_location = onnx.TensorProto.EXTERNAL
    for key, value in {"location": "weights.bin", "offset": 0, "length": LARGE}.items():
        w.external_data.add(key=key, value=str(value))
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> large (float[1,1000,16] x) => (float[] y)'
        ' { [op] y = Conv <auto_pad = "SAME_UPPER"> (x, w) }'
    )
    model.graph.initializer.append(w)
    path = folder / "large.onnx"
    path.write_bytes(model.SerializeToString())
    return path, weights


def peak(*arguments: Path) -> tuple[int, list[str]]:
    """Bytes that a process of its own held at most, and what it rewrote."""
    command = [sys.executable, "-c", MEASURE, *map(str, arguments)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    held, rules = json.loads(finished.stdout)
    return held, rules


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")
def test_weights_of_2_gb_stay_in_their_file(tmp_path: Path) -> None:
    path, weights = large_model(tmp_path)
    out = tmp_path / "out.onnx"
    held, rules = peak(path, out)
    assert rules == ["explicit-pads", "split-pads"]
    assert held < 1 << 30, f"{held} bytes"
    (w,) = [t for t in onnx.load(out, load_external_data=False).graph.initializer if t.name == "w"]
    assert {entry.key: entry.value for entry in w.external_data}["location"] == "weights.bin"
    assert weights.stat().st_size == LARGE
    assert weights.stat().st_blocks * 512 < 1 << 20, "the file of weights still has its holes"
