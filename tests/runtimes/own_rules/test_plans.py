"""An accelerator of the user's own: symmetric pads up to 3, no Pad, no ceil_mode, no dilated SAME.

What the search writes for its file of rules is proved, and read again by a judge that knows nothing
of onnxpad: shape inference of onnx and the oracle's windows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import ModelProto, NodeProto, helper

from onnxpad import rewrite, validate
from tests.models.real import model_paths
from tests.models.text import text_model
from tests.oracle.windows import dilated, resolve_same

MOST = 3
RULES = f"""
[[rule]]
operators = "all"
when = ["asymmetric"]
answer = "refuses"

[[rule]]
operators = "all"
pad_above = {MOST}
answer = "refuses"

[[rule]]
operators = ["Pad"]
answer = "refuses"

[[rule]]
operators = ["MaxPool", "AveragePool"]
when = ["ceil_mode"]
answer = "refuses"

[[rule]]
operators = "all"
when = ["same", "dilated"]
answer = "refuses"
"""
HAS = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "Slice", "Concat", "Mul", "Identity")
TAKES = {
    "everything else": 'takes = "all"\n',
    "few operators": f"takes = {json.dumps(HAS)}\n",
}
IMAGE, LINE = "float[1,2,20,21] x", "float[1,2,24] x"
MODELS = {
    "wide": ("y = Conv <pads = [4, 4, 4, 4]> (x, w)", IMAGE, "float[3,2,9,9] w"),
    "wide with stride": (
        "y = Conv <pads = [4, 4, 4, 4], strides = [2, 2]> (x, w)",
        IMAGE,
        "float[3,2,9,9] w",
    ),
    "dilated": (
        "y = Conv <pads = [9, 9, 9, 9], dilations = [3, 3]> (x, w)",
        IMAGE,
        "float[3,2,7,7] w",
    ),
    "dilated SAME": (
        'y = Conv <auto_pad = "SAME_UPPER", dilations = [3, 3]> (x, w)',
        IMAGE,
        "float[3,2,7,7] w",
    ),
    "uneven": ("y = Conv <pads = [3, 4, 5, 4]> (x, w)", IMAGE, "float[3,2,9,9] w"),
    "causal": ("y = Conv <pads = [8, 0], dilations = [4]> (x, w)", LINE, "float[3,2,3] w"),
    "SAME with stride": (
        'y = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, w)',
        IMAGE,
        "float[3,2,4,4] w",
    ),
    "Pad": ('p = Pad <mode = "reflect"> (x, at) y = Conv (p, w)', LINE, "float[3,2,3] w"),
    "wide max": ("y = MaxPool <kernel_shape = [13, 13], pads = [6,6,6,6]> (x)", IMAGE, ""),
    "max rounded up": (
        "y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)",
        IMAGE,
        "",
    ),
    "dilated max": (
        'y = MaxPool <kernel_shape = [3, 3], dilations = [5, 5], auto_pad = "SAME_UPPER"> (x)',
        IMAGE,
        "",
    ),
    "wide average": ("y = AveragePool <kernel_shape = [9, 9], pads = [4,4,4,4]> (x)", IMAGE, ""),
    "average that counts": (
        "y = AveragePool <kernel_shape = [9], pads = [4, 4], count_include_pad = 1> (x)",
        LINE,
        "",
    ),
    "wide crop": (
        "y = ConvTranspose <pads = [5, 5], strides = [2], output_padding = [1]> (x, w)",
        LINE,
        "float[2,3,9] w",
    ),
    "output shape": (
        "y = ConvTranspose <output_shape = [48], strides = [2]> (x, w)",
        LINE,
        "float[2,3,9] w",
    ),
}
CORPUS = ("t_googlenet", "kt_tcn", "tf_raw_explicit_atrous")


def _model(name: str) -> ModelProto:
    node, inputs, weight = MODELS[name]
    constants = "int64[6] at = {0, 0, 2, 0, 0, 5}" if "= Pad" in node else ""
    if weight:
        count = 1
        for size in weight.partition("[")[2].partition("]")[0].split(","):
            count *= int(size)
        numbers = ", ".join(str(number % 7 - 3) for number in range(count))
        constants = ", ".join(filter(None, (constants, f"{weight} = {{{numbers}}}")))
    return text_model(node, inputs, constants=constants)


def _refused(model: ModelProto) -> Iterator[str]:
    """What the accelerator stops at."""
    inferred = onnx.shape_inference.infer_shapes(model)
    values = (*inferred.graph.value_info, *inferred.graph.input, *inferred.graph.output)
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
    weights = {one.name: list(one.dims) for one in model.graph.initializer}
    for node in model.graph.node:
        found = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type == "Pad" or found.get("ceil_mode"):
            yield f"{node.op_type} {found}"
        for begin, end in _sides(node, found, shapes, weights):
            if begin != end or begin > MOST:
                yield f"{node.op_type} {found}"


def _sides(
    node: NodeProto,
    found: dict[str, Any],
    shapes: dict[str, list[int]],
    weights: dict[str, list[int]],
) -> Iterator[tuple[int, int]]:
    if node.op_type not in HAS[:4]:
        return
    kernel = found.get("kernel_shape") or weights[node.input[1]][2:]
    rank, sizes = len(kernel), shapes[node.input[0]][2:]
    strides, dilations = (found.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads, auto_pad = found.get("pads", [0] * 2 * rank), found.get("auto_pad", b"NOTSET").decode()
    for axis, (k, s, d) in enumerate(zip(kernel, strides, dilations, strict=True)):
        if "output_shape" in found:
            total = (sizes[axis] - 1) * s + dilated(k, d) - found["output_shape"][axis]
            yield total // 2, total - total // 2
        elif not auto_pad.startswith("SAME"):
            yield (0, 0) if auto_pad == "VALID" else (pads[axis], pads[axis + rank])
        elif node.op_type == "ConvTranspose":
            total = max(0, dilated(k, d) - s)
            yield total // 2, total - total // 2
        else:
            yield resolve_same(sizes[axis], k, s, d, auto_pad == "SAME_LOWER")
            if d > 1:
                yield MOST + 1, MOST + 1  # stands for: it has no dilated SAME


@pytest.fixture(params=TAKES)
def npu(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "npu.toml"
    path.write_text(TAKES[request.param] + RULES)
    return str(path)


def _planned(model: ModelProto, npu: str) -> ModelProto:
    done = rewrite(model, target=npu)
    assert done.unfit == ()
    assert list(_refused(done.model)) == []
    assert validate(model, done.model, proof_only=True).verdict == "proved"
    model_written: ModelProto = done.model
    return model_written


@pytest.mark.part(5)
@pytest.mark.parametrize("name", MODELS)
def test_a_plan_is_found_and_proved(name: str, npu: str) -> None:
    model = _model(name)
    assert list(_refused(model))
    written = Counter(node.op_type for node in _planned(model, npu).graph.node)
    assert "all" in Path(npu).read_text().splitlines()[0] or written.keys() <= set(HAS)


@pytest.mark.part(2)
@pytest.mark.parametrize("start", CORPUS)
def test_a_model_in_use_is_planned(start: str, npu: str) -> None:
    (path,) = (path for path in model_paths() if path.name.startswith(start))
    _planned(onnx.load(path), npu)


def test_an_operator_that_nothing_replaces_is_left_and_said(tmp_path: Path) -> None:
    path = tmp_path / "npu.toml"
    path.write_text('takes = "all"\n[[rule]]\noperators = ["Conv"]\nanswer = "refuses"\n')
    (unfit,) = rewrite(_model("wide"), target=str(path)).unfit
    assert unfit.judgement.evidence == (f"documented: {path}, rule 1",)
