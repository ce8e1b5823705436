"""`port`: what is written computes what the model computes, with its weights."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, numpy_helper, parser

import onnxpad
from tests.cli.processes import MODELS, ROOT
from tests.command import run

Array = NDArray[Any]
Captured = pytest.CaptureFixture[str]
CORPUS = ROOT.parent / "shared" / "corpus" / "models"
FEW = 10
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,H,W] x, float[4,2,3,3] w, float[4] b) => (float[1,4,P,Q] y)
<int64[8] begins = {0,0,1,0,0,0,0,2}, float low = {-1.5}> {
  [pad] p = Pad(x, begins, low)
  [same] c = Conv<group=2, strides=[2,2], auto_pad="SAME_UPPER">(p, w, b)
  [plain] d = Conv<group=2, pads=[1,0,0,1]>(c, w)
  [pool] y = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(d)
}"""


STRIDED = "x = F.conv2d(x, weight, bias, stride=2, groups=2)"
PLAIN = "x = F.conv2d(x, weight, bias, groups=2)"


def saved(folder: Path) -> str:
    path = str(folder / "m.onnx")
    onnx.save(parser.parse_model(TEXT), path)
    return path


def test_each_operator_is_a_block(tmp_path: Path, capsys: Captured) -> None:
    assert run(["port", saved(tmp_path), "--as", "pytorch", "--dim", "H=9", "--dim", "W=10"]) == 0
    assert capsys.readouterr().out.split("\n\n") == [
        "# 4 padded operators in pytorch",
        "# Pad 'pad'\nx = F.pad(x, (0, 2, 1, 0), value=float(\"-1.5\"))",
        f"# Conv 'same': weight 'w', bias 'b'\nx = F.pad(x, (0, 1, 0, 1))\n{STRIDED}",
        f"# Conv 'plain': weight 'w', no bias\nx = F.pad(x, (0, 1, 1, 0))\n{PLAIN}",
        "# MaxPool 'pool'\nx = F.max_pool2d(x, 3, stride=1, padding=1)\n",
    ]


def test_open_sizes_matter_only_where_the_code_does(tmp_path: Path, capsys: Captured) -> None:
    path = saved(tmp_path)
    assert run(["port", path, "--as", "pytorch", "--json"]) == 1
    found = {one["node"]: one for one in json.loads(capsys.readouterr().out)["nodes"]}
    assert [bool(one["code"]) for one in found.values()] == [True, False, True, True]
    assert found["same"]["reason"] == "the code in pytorch hangs on the size, which is open"
    assert found["same"]["try"][1] == "--dim 'H%2=0' --dim 'W%2=0'"
    assert run(["port", path, "--as", "tensorflow"]) == 0
    assert 'tf.nn.conv2d(x, weight, strides=[2, 2], padding="SAME")' in capsys.readouterr().out
    assert run(["port", path, "--as", "pytorch", "--dim", "H%2=0", "--dim", "W%2=0"]) == 0


def session(model: onnx.ModelProto) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    providers = ["CPUExecutionProvider"]
    return ort.InferenceSession(model.SerializeToString(), options, providers=providers)


class Ported:
    """A model whose padded operators are PyTorch's, and all others onnxruntime's."""

    def __init__(self, model: onnx.ModelProto, path: Path) -> None:
        self.model = model
        with redirect_stdout(StringIO()) as printed:
            assert run(["port", str(path), "--as", "pytorch", "--all", "--json"]) == 0
        self.code = {one["node"]: one for one in json.loads(printed.getvalue())["nodes"]}
        self.values = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}

    def run(self, feeds: dict[str, Array]) -> list[Array]:
        self.values |= feeds
        for node in self.model.graph.node:
            one = self.code.get(node.name or node.output[0])
            made = [self.ported(node, one)] if one else self.other(node)
            self.values |= dict(zip(node.output, made, strict=False))
        return [self.values[one.name] for one in self.model.graph.output]

    def ported(self, node: NodeProto, one: dict[str, Any]) -> Array:
        torch: Any = importlib.import_module("torch")
        names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "bias": None}
        names["x"] = torch.from_numpy(self.values[node.input[0]])
        for name, tensor in (("weight", one["weight"]), ("bias", one["bias"])):
            if tensor:
                names[name] = torch.from_numpy(self.values[tensor].copy())
        exec(one["code"], names)  # noqa: S102 - it is what is tested
        made: Array = names["x"].numpy()
        return made

    def other(self, node: NodeProto) -> list[Array]:
        read = {name: self.values[name] for name in node.input if name}
        graph = onnx.helper.make_graph([node], "one", [], [])
        for name, value in read.items():
            code = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
            graph.input.append(onnx.helper.make_tensor_value_info(name, code, value.shape))
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output)
        opsets = self.model.opset_import
        one = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
        return list(session(one).run(None, read))


def portable() -> Iterator[Path]:
    """Models without bodies, functions and open sizes, whose every padded operator is a layer."""
    for path in [*sorted(MODELS.glob("*.onnx")), *sorted(CORPUS.glob("*.onnx"))]:
        model = onnx.load(path)
        sizes = [d for one in model.graph.input for d in one.type.tensor_type.shape.dim]
        kinds = {a.type for node in model.graph.node for a in node.attribute}
        plain = onnx.AttributeProto.GRAPH not in kinds and not model.functions
        fixed = all(size.HasField("dim_value") for size in sizes)
        inner = [node.name or node.output[0] for node in model.graph.node]
        if not plain or not fixed or len({*inner}) < len(inner) or path.stat().st_size > 2_000_000:
            continue
        if onnxpad.port(model, everything=True).complete:
            yield path


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")
def test_networks_compute_the_same() -> None:
    done: list[str] = []
    for path in portable():
        model = onnx.load(path)
        whole = session(model)
        random = np.random.default_rng(len(done))
        given = {one.name for one in model.graph.initializer}
        feeds = {
            one.name: random.standard_normal(one.shape).astype(np.float32)
            for one in whole.get_inputs()
            if one.name not in given and one.type == "tensor(float)"
        }
        if len(feeds) < len(whole.get_inputs()):
            continue
        try:
            right = whole.run(None, feeds)
        except Exception:  # noqa: BLE001, S112 - SAME with a dilation: onnxruntime is no judge of it
            continue
        for name, got, want in zip(
            model.graph.output, Ported(model, path).run(feeds), right, strict=True
        ):
            scale = max(1.0, float(np.abs(want).max()))
            assert np.abs(got - want).max() <= 1e-4 * scale, (path.name, name.name)
        done.append(path.name)
        if len(done) == FEW:
            return
    pytest.fail(f"only {done} could be built")
