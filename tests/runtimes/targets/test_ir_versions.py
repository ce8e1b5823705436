"""Files of IR versions and opsets that came after a release of onnxruntime.

What stands here was run: onnxruntime 1.17.3, 1.20.1, 1.23.2, 1.26.0, 1.31.1 and 1.32.0, and
onnxruntime-web 1.20, 1.23, 1.27 and 1.30, IR versions 8 to 14 and opsets 19 to 28.
"""

from __future__ import annotations

import onnx
import pytest

import onnxpad
from onnxpad.rewriting.for_target.report import PassPlan
from onnxpad.runtimes.conditions.companions import IR_VERSIONS
from tests.models.text import text_model
from tests.runtimes.targets.test_files import refused

NEWEST = {
    "onnxruntime@1.17": (9, 20),
    "onnxruntime@1.20": (10, 21),
    "onnxruntime@1.23": (11, 23),
    "onnxruntime@1.26": (13, 26),
    "onnxruntime@1.31": (13, 26),
    "onnxruntime@1.32": (14, 28),
    "onnxruntime-web@1.20": (10, 21),
    "onnxruntime-web@1.23": (11, 23),
    "onnxruntime-web@1.27": (13, 26),
    "onnxruntime-web": (13, 26),
    "webgpu": (13, 26),
    "opencv": (14, 28),
    "openvino": (14, 28),
}


def model_of(version: int, opset: int) -> onnx.ModelProto:
    model = text_model(
        "a = Relu (x) y = Conv <pads = [1,1,1,1]> (a, w)",
        "float[1,1,4,4] x",
        outputs="float[1,1,5,5] y",
        constants="float[1,1,2,2] w = {1,-2,3,-4}",
        opset=opset,
    )
    model.ir_version = version
    return model


@pytest.mark.parametrize("target", NEWEST)
def test_which_release_opens_which_ir_version(target: str) -> None:
    newest, _ = NEWEST[target]
    for version in range(8, 15):
        told = {*IR_VERSIONS} & refused(model_of(version, 17), target)
        assert bool(told) is (version > newest), version


@pytest.mark.parametrize("target", [name for name in NEWEST if name.startswith("onnxruntime")])
def test_which_release_opens_which_opset(target: str) -> None:
    _, newest = NEWEST[target]
    for opset in range(17, 29):
        told = "Conv" in refused(model_of(8, opset), target)
        assert told is (opset > newest), opset


@pytest.mark.parametrize("target", NEWEST)
@pytest.mark.parametrize(("version", "opset"), [(14, 13), (14, 25), (13, 24), (10, 21), (14, 28)])
def test_rewrite_writes_a_file_that_the_release_opens(
    target: str, version: int, opset: int
) -> None:
    model = model_of(version, opset)
    done = onnxpad.rewrite(model, target=target)
    newest, newest_opset = NEWEST[target]
    assert not done.unfit
    assert done.model.ir_version == min(version, newest)
    assert done.model.opset_import[0].version <= newest_opset
    assert onnxpad.validate(model, done.model).proved


def test_an_overload_keeps_the_ir_version_that_it_came_with() -> None:
    model = model_of(10, 20)
    model.functions.add(name="f", domain="own", overload="one").opset_import.add(version=20)
    done = onnxpad.rewrite(model, target="onnxruntime@1.17")
    assert {one.op for one in done.unfit} == {"file of IR version 10"}


def test_an_opset_that_is_not_known_keeps_the_ir_version() -> None:
    model = model_of(14, 13)
    model.opset_import.add(domain="ai.onnx.ml", version=99)
    done = onnxpad.rewrite(model, target="onnxruntime@1.31")
    assert {one.op for one in done.unfit} == {"file of IR version 14"}


def test_what_inspect_says_is_what_rewrite_does() -> None:
    found = onnxpad.inspect(model_of(14, 13), target="onnxruntime@1.23").targets["onnxruntime@1.23"]
    (verdict,) = (one for one in found if one.op in IR_VERSIONS)
    assert isinstance(verdict.way, PassPlan)
    assert verdict.way.steps == "IR version 11 instead of 14"
