"""Pads absorbed through QuantizeLinear and DequantizeLinear, and Pads of expansions."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad.inspection import inspect
from onnxpad.model.editing.session import EditSession
from onnxpad.padding.expansion import Expansion, Read
from onnxpad.padding.fills import Constant
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.dequantised_pads import outside_group
from tests.models.tiny import attributes, kinds, refused
from tests.oracle.onnxruntime_levels import ran
from tests.rewriting.passes.quantised_models import (
    DQ,
    IN,
    SIGNED,
    WIDE,
    X,
    group,
    optimised_kinds,
    path_to,
    same,
)

ABSORBED = {
    "in front of both": f"a = Pad (x, p) q = QuantizeLinear (a, s, z) {DQ} (q, s, z)",
    "between, with the zero point by name": f"{IN} a = Pad (q, p, z) {DQ} (a, s, z)",
    "between, with its value": f"{IN} a = Pad (q, p, z2) {DQ} (a, s, z)",
    "behind both": f"{IN} [dq] b = DequantizeLinear (q, s, z) d = Pad (b, p)",
}


@pytest.mark.parametrize("front", ABSORBED.values(), ids=ABSORBED)
def test_row_53_absorbed(front: str, tmp_path: Path) -> None:
    model = group(front, more="uint8 z2 = {117}")
    after = same(model, "absorb-pad")
    assert path_to(after) == ["QuantizeLinear", "DequantizeLinear"]
    assert attributes(after) == {"strides": [1], "pads": [1, 1]}
    assert "QLinearConv" in optimised_kinds(after, tmp_path)


@pytest.mark.parametrize(
    "front",
    [
        f"{IN} a = Pad (q, p) {DQ} (a, s, z)",
        f"a = Pad (x, p, small) q = QuantizeLinear (a, s, z) {DQ} (q, s, z)",
        f"a = Pad (x, p) q = QuantizeLinear (a, s, z) {DQ} (q, s, z2)",
        f"a = Pad (x, p) q = QuantizeLinear (a, s, u) {DQ} (q, s, z)",
    ],
)
def test_row_53_not_absorbed(front: str) -> None:
    model = group(front, more="uint8 z2 = {10}, float small = {0.06}", inputs="uint8 u")
    assert "makes of the Pad is not known" in refused(model, "absorb-pad").reason


def test_a_dynamic_zero_point_by_name() -> None:
    front = f"q = QuantizeLinear (x, s, u) a = Pad (q, p, u) {DQ} (a, s, u)"
    model = group(front, inputs="uint8 u")
    done = rewrite(model, passes=["absorb-pad"])
    assert done.changed


IN_GROUP = f"{IN} [dq] b = DequantizeLinear (q, s, z) d = Pad (b, p, s)"


def test_what_the_trap_says_of_onnxruntime(tmp_path: Path) -> None:
    """A Pad that onnxruntime does not fold leaves the convolution in floating point."""
    trapped, free = group(IN_GROUP), group(f"{IN} {DQ} (q, s, z)")
    for model, is_trapped in ((trapped, True), (free, False)):
        (found,) = [node for node in inspect(model).nodes if node.node == "op"]
        assert ("pad-in-quantised-group" in [trap.code for trap in found.traps]) == is_trapped
        assert ("QLinearConv" not in optimised_kinds(model, tmp_path)) == is_trapped


def padded_by_expansion(model: onnx.ModelProto) -> onnx.ModelProto:
    """What becomes of a pass that writes its Pad into an expansion."""
    session = EditSession(model)
    (site,) = [site for site in session.sites_now() if site.address.label == "op"]
    composer = Composer(site.chain.opset, site.chain.dtype)
    data = composer.pad(Read(0), (0, 0, 1), (0, 0, 2), Constant(0))
    node = composer.itself({0: data}, sets={"pads": (0, 0)})
    after = outside_group(site.chain, composer.finish(node))
    assert isinstance(after, Expansion)
    session.change(site, after)
    return session.finish()


EXPANDED = {
    "on the quantised tensor": ("uint8 z = {117}", ["QuantizeLinear", "Pad", "DequantizeLinear"]),
    "in floating point": (SIGNED, ["Pad", "QuantizeLinear", "DequantizeLinear"]),
}


@pytest.mark.parametrize(("zero", "front"), EXPANDED.values(), ids=EXPANDED)
def test_pads_of_expansions(zero: str, front: list[str]) -> None:
    model = group(f"{IN} {DQ} (q, s, z)", conv=WIDE, zero=zero)
    wanted = ran(model, {"x": X}, optimised=False)
    after = padded_by_expansion(model)
    onnx.checker.check_model(after, full_check=True)
    assert path_to(after) == front
    assert kinds(after).count("DequantizeLinear") == kinds(group(f"{IN} {DQ} (q, s, z)")).count(
        "DequantizeLinear"
    )
    assert np.array_equal(np.asarray(ran(after, {"x": X}, optimised=False)), np.asarray(wanted))
