"""Operators that ONNX does not define: a target that has no rule about them does not take them."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto, parser

from onnxpad import each, inspect, rewrite
from tests.command import run
from tests.names import TARGETS

CONV = "a = Conv <pads = [1,1,1,1]> (x, w)"
DOMAINS = '"" : 17, "my.custom" : 1, "com.microsoft" : 1, "ai.onnx.ml" : 3'


def padded(nodes: str, functions: str = "") -> ModelProto:
    weight = f"float[1,1,3,3] w = {{{','.join('1' * 9)}}}"
    head = f"<ir_version: 8, opset_import: [{DOMAINS}]>"
    graph = f"(float[1,1,8,8] x) => (float[1,1,8,8] y) <{weight}> {{ {CONV} {nodes} }}"
    return parser.parse_model(f"{head} g {graph} {functions}")


def unknown(model: ModelProto, target: str) -> list[str]:
    found = inspect(model, target=target).findings
    return [one.op for one in found if one.code == f"{target}:unknown"]


@pytest.mark.parametrize("target", TARGETS)
def test_no_target_takes_an_operator_of_a_domain_that_nobody_knows(target: str) -> None:
    model = padded("[odd] y = my.custom.Foo (a)")
    found = inspect(model, target=target)
    assert unknown(model, target) == ["my.custom.Foo"]
    assert found.not_judged == ()
    assert rewrite(model, target=target).not_judged == ()


@pytest.mark.parametrize(
    ("node", "target", "expected"),
    [
        ("com.microsoft.Gelu (a)", "openvino", ["com.microsoft.Gelu"]),
        ("com.microsoft.Gelu (a)", "onnxruntime", []),
        ("Mish (a)", "openvino", ["Mish"]),
        ("ai.onnx.ml.Binarizer (a)", "openvino", []),
        ("ai.onnx.ml.Foo (a)", "openvino", ["ai.onnx.ml.Foo"]),
        ("Softsign (a)", "webgpu", []),
    ],
)
def test_what_a_target_may_have_is_not_judged(node: str, target: str, expected: list[str]) -> None:
    assert unknown(padded(f"y = {node}"), target) == expected


def test_a_function_of_the_model_defines_its_operator() -> None:
    own = '<domain: "my.custom", opset_import: ["" : 17]> Foo (p) => (q) { q = Relu (p) }'
    assert unknown(padded("y = my.custom.Foo (a)", own), "webgpu") == []


def test_several_targets_at_once_name_those_that_do_not_know_it() -> None:
    done = rewrite(padded("y = com.microsoft.Gelu (a)"), target=["onnxruntime", "openvino"])
    assert done.fitting is not None
    assert [one.judgement.by for one in done.fitting.no_way] == [("openvino",)]
    assert not done.unfit


def test_a_check_for_what_is_not_known_fails(tmp_path: Path) -> None:
    path = tmp_path / "foo.onnx"
    path.write_bytes(padded("y = my.custom.Foo (a)").SerializeToString())
    assert run(["inspect", str(path), "--target", "webgpu"]) == 0
    (record,) = each("inspect", path, target="webgpu").records
    assert record["status"] == "not known"
    assert run(["inspect", str(path), "--target", "webgpu", "--fail-on", "unknown"]) == 1
