"""Every padded operator of ONNX in every opset that has it: each target has an answer."""

from __future__ import annotations

import onnx
import pytest

from onnxpad import inspect, rewrite, validate
from tests.models.text import text_model
from tests.names import names

NEWEST = onnx.defs.onnx_opset_version()
FLOATS, BYTES = "float[1,4,6,6] x", "uint8[1,1,6,6] x"
WEIGHT = f"float[1,4,3,3] w = {{{','.join('1' * 36)}}}"
SMALL = "uint8[1,1,2,2] w = {1,2,3,4}"
SCALED = f"{SMALL}, float s = {{1}}, uint8 z = {{2}}"
PADS = "int64[8] p = {0,0,1,0,0,0,0,1}"
OFFSETS = f"{WEIGHT}, float[1,18,6,6] o = {{{','.join('0' * 648)}}}"
MODELS = {
    "Conv": ("y = Conv <pads = [1,1,0,1]> (x, w)", FLOATS, WEIGHT),
    "ConvTranspose": (
        'y = ConvTranspose <auto_pad = "SAME_UPPER", strides = [2,2]> (x, w)',
        FLOATS,
        f"float[4,1,3,3] w = {{{','.join('1' * 36)}}}",
    ),
    "MaxPool": ("y = MaxPool <kernel_shape = [3,3], pads = [1,1,0,1]> (x)", FLOATS, ""),
    "AveragePool": (
        'y = AveragePool <kernel_shape = [3,3], auto_pad = "SAME_LOWER"> (x)',
        FLOATS,
        "",
    ),
    "LpPool": ("y = LpPool <kernel_shape = [3,3], pads = [1,1,0,1]> (x)", FLOATS, ""),
    "Pad": ("y = Pad (x, p)", FLOATS, PADS),
    "ConvInteger": ("y = ConvInteger <pads = [1,0,0,1]> (x, w)", BYTES, SMALL),
    "QLinearConv": ("y = QLinearConv <pads = [1,0,0,1]> (x, s, z, w, s, z, s, z)", BYTES, SCALED),
    "DeformConv": ("y = DeformConv <pads = [1,1,1,1]> (x, w, o)", FLOATS, OFFSETS),
    "MaxUnpool": (
        "a, i = MaxPool <kernel_shape = [2,2]> (x) y = MaxUnpool <kernel_shape = [2,2]> (a, i)",
        FLOATS,
        "",
    ),
    "Col2Im": (
        "y = Col2Im <pads = [1,0,0,1]> (x, i, b)",
        "float[1,4,30] x",
        "int64[2] i = {5,6}, int64[2] b = {2,2}",
    ),
    "CenterCropPad": ("y = CenterCropPad <axes = [2]> (x, s)", FLOATS, "int64[1] s = {9}"),
    "GridSample": (
        "y = GridSample (x, g)",
        FLOATS,
        "float[1,1,2,2] g = {0,0,2,2}",
    ),
}
STATEFUL = {"CausalConvWithState"}
OLDER_PADS = {1: "y = Pad <paddings = [0,0,1,0,0,0,0,1]> (x)"}
OLDER_PADS |= dict.fromkeys(range(2, 11), "y = Pad <pads = [0,0,1,0,0,0,0,1]> (x)")


def first_opset(op: str) -> int:
    return min(
        int(one.since_version)
        for one in onnx.defs.get_all_schemas_with_history()
        if (one.domain, one.name) == ("", op)
    )


def written(op: str, opset: int) -> onnx.ModelProto:
    nodes, inputs, constants = MODELS[op]
    if op == "Pad" and opset in OLDER_PADS:
        nodes, constants = OLDER_PADS[opset], ""
    return text_model(nodes, inputs, constants=constants, opset=opset)


CASES = [(op, opset) for op in MODELS for opset in range(first_opset(op), NEWEST + 1)]


def test_every_padded_operator_has_a_model() -> None:
    assert {*MODELS, *STATEFUL} == {name for name in names("operator") if "." not in name}


@pytest.mark.part(128)
@pytest.mark.parametrize(("op", "opset"), CASES)
def test_every_target_answers(op: str, opset: int) -> None:
    """None fails, and a model that is moved to another opset is never refuted."""
    model = written(op, opset)
    for target, verdicts in inspect(model, target="all").targets.items():
        assert verdicts, target
        if any(getattr(one.way, "whole", ()) for one in verdicts):
            done = rewrite(model, target=target)
            assert isinstance(done.model, onnx.ModelProto)
            assert validate(model, done.model, proof_only=True).verdict != "different", target


@pytest.mark.parametrize("target", ["portable", "iree", "onnx2torch"])
def test_targets_with_facts_about_opsets_answer_below_all_of_them(target: str) -> None:
    done = rewrite(written("MaxPool", 6), target=target)
    assert not done.unfit
