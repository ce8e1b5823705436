"""A trap that onnxruntime refuses or miscomputes a node is raised where its target says so."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto

from onnxpad.model.reading.as_written import Observer
from onnxpad.model.reading.survey import Survey
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.runtimes.judge import judge
from onnxpad.runtimes.targets import find_target
from onnxpad.runtimes.traps import all_rules, traps_of
from tests.models.real import CORPUS
from tests.models.text import text_model
from tests.models.traps import TRAPS
from tests.runtimes.targets import probes

ONNXRUNTIME = find_target("onnxruntime")
OF_FUSION = {code for code in all_rules() if code.startswith(("pad-fused-", "pad-on-"))}
KERNELS = {code for code, rule in all_rules().items() if rule.target == ONNXRUNTIME.name}
KERNELS = (KERNELS - OF_FUSION) | {"mixed-types"}
"""Traps about what onnxruntime's CPU provider refuses or computes in its own way."""

PADDING = (
    "pads=[0, 0]",
    "pads=[1, 1]",
    "pads=[0, 3]",
    "pads=[0, -1]",
    "pads=[-1, 0]",
    'auto_pad="SAME_UPPER"',
    'auto_pad="SAME_LOWER"',
    'auto_pad="VALID"',
    'auto_pad="SAME_UPPER", pads=[1, 1]',
)
CONVOLUTIONS = ("Conv", "ConvTranspose", "ConvInteger", "QLinearConv")


def window(op: str, attributes: str, kernel: int, size: str, opset: int) -> ModelProto:
    weight = f"[1,1,{kernel}] w = {{{', '.join(['1'] * kernel)}}}"
    match op:
        case "ConvInteger":
            dtype, reads, constants = "uint8", "x, w", f"uint8{weight}"
        case "QLinearConv":
            dtype, reads = "uint8", "x, s, z, w, s, z, s, z"
            constants = f"uint8{weight}, float s = {{0.5}}, uint8 z = {{0}}"
        case "Conv" | "ConvTranspose":
            dtype, reads, constants = "float", "x, w", f"float{weight}"
        case _:
            dtype, reads, constants = "float", "x", ""
            attributes += f", kernel_shape=[{kernel}]"
    node = f"[node] y = {op} <{attributes}> ({reads})"
    return text_model(node, f"{dtype}[1,1,{size}] x", constants=constants, opset=opset)


def windows(op: str) -> Iterator[ModelProto]:
    for padding, stride, kernel, size in product(PADDING, (1, 2, 4), (1, 3), ("8", "N", "2")):
        plain = f"{padding}, strides=[{stride}]"
        more = ["", ", dilations=[2]"]
        if op == "ConvTranspose":
            more += [", output_padding=[1]"]
        elif op not in CONVOLUTIONS:
            more += [", ceil_mode=1"]
        for extra, opset in product(more, (17, 19)):
            if extra and opset < 19 and op in ("AveragePool", "LpPool"):
                continue
            yield window(op, plain + extra, kernel, size, opset)


def disagreements(model: ModelProto | Path) -> list[str]:
    """Nodes of which the traps and the target say different things."""
    proto = model if isinstance(model, ModelProto) else onnx.load(model, load_external_data=False)
    survey, observer, found = Survey(proto), Observer(), []
    for site in survey.sites_now():
        for context, chain in [(site.context, site.chain)]:
            written = observer.written(context, site.node, chain)
            codes = {trap.code for trap in traps_of(chain, written)}
            trapped = bool(codes & KERNELS)
            judged = judge(ONNXRUNTIME, chain)
            fails = judged.answer.fails or judged.answer.is_open
            if trapped != fails and not codes & OF_FUSION and "Pad node" not in judged.reason:
                found.append(f"{site.address.label}: {codes}, {judged}")
    return found


@pytest.mark.sweep
@pytest.mark.parametrize("op", [*CONVOLUTIONS, "MaxPool", "AveragePool", "LpPool"])
def test_windows(op: str) -> None:
    for model in windows(op):
        assert disagreements(model) == []


@pytest.mark.parametrize("code", sorted(set(TRAPS) - OF_FUSION))
def test_a_model_of_each_trap(code: str) -> None:
    for model in TRAPS[code]:
        assert disagreements(model) == []


@pytest.mark.sweep
def test_probes_and_corpus() -> None:
    folder = probes.folder()
    if folder is None:
        pytest.skip("../shared/probes is not there")
    paths = [*sorted(folder.rglob("*.onnx")), *sorted(CORPUS.glob("*.onnx"))]
    assert [f"{path.stem}: {one}" for path in paths for one in disagreements(path)] == []


@pytest.mark.parametrize("bias", ["", ", b"])
@pytest.mark.parametrize(
    ("pads", "stride", "passes"),
    [
        ("0, -1", 2, ("plain-transpose",)),
        ("1, -1", 2, ("plain-transpose",)),
        ("0, -3", 2, ("output-padding-by-pad",)),
    ],
)
def test_negative_end_pads_of_a_transposed_convolution_are_rewritten(
    pads: str, stride: int, passes: tuple[str, ...], bias: str
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    constants = "float[1,1,3] w = {1, 10, 100}, float[1] b = {7}"
    node = f"[node] y = ConvTranspose <pads=[{pads}], strides=[{stride}]> (x, w{bias})"
    model = text_model(node, "float[1,1,2] x", constants=constants)
    done = rewrite(model, target="onnxruntime")
    assert done.fitting is not None
    assert [getattr(one.way, "passes", None) for one in done.fitting.plans] == [passes]
    session = runtime.InferenceSession(
        done.model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (found,) = session.run(
        None,
        {
            "x": onnx.numpy_helper.to_array(
                onnx.helper.make_tensor("x", onnx.TensorProto.FLOAT, [1, 1, 2], [1, 2])
            )
        },
    )
    begin, end = map(int, pads.split(","))
    full = [1, 10, 102, 20, 200][begin:] + [0] * -end
    assert found.ravel().tolist() == [cell + (7 if bias else 0) for cell in full]
