"""Nodes with auto_pad and pads: runtimes differ in which one wins, so no target takes both."""

from __future__ import annotations

from typing import Literal

import numpy as np
import onnx
import pytest

from onnxpad.inspection import inspect
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.targets import all_targets
from onnxpad.show.inspections import inspection_document
from tests.models.text import text_model

CONV = 'y = Conv <auto_pad = "SAME_UPPER", pads = [1, 1, 1, 1], kernel_shape = [5, 5]> (x, w)'
POOL = (
    'y = MaxPool <auto_pad = "SAME_UPPER", pads = [1, 1, 1, 1], kernel_shape = [5, 5], '
    "strides = [2, 2]> (x)"
)
PADS = {"pads": [1, 1, 1, 1], "auto_pad": [2, 2, 2, 2]}
POOLED = {"pads": [1, 1, 1, 1], "auto_pad": [1, 1, 2, 2]}


def model(node: str) -> onnx.ModelProto:
    weights = np.random.default_rng(0).standard_normal(75).round(2)
    numbers = ", ".join(map(str, weights))
    return text_model(
        node,
        "float[1, 3, 8, 8] x",
        outputs="float[1, C, H, W] y",
        constants=f"float[1, 3, 5, 5] w = {{{numbers}}}",
        opset=17,
    )


@pytest.mark.part(13)
@pytest.mark.parametrize("target", sorted(all_targets()))
@pytest.mark.parametrize("follows", ["auto_pad", "pads"])
@pytest.mark.parametrize(("node", "written"), [(CONV, PADS), (POOL, POOLED)], ids=["conv", "pool"])
def test_what_the_user_follows_is_written_for_every_target(
    node: str, written: dict[str, list[int]], follows: Literal["auto_pad", "pads"], target: str
) -> None:
    given = model(node)
    verdicts = inspect(given, target=target, ambiguous=follows).targets[target]
    assert all(one.judgement.answer is not Answer.TAKES for one in verdicts if one.op != "result")
    done = rewrite(given, target=target, ambiguous=follows)
    if done.unfit:
        pytest.skip(f"{target} has no way for it: {done.unfit[0].reason}")
    made = [
        {one.name: onnx.helper.get_attribute_value(one) for one in found.attribute}
        for found in done.model.graph.node
        if found.op_type == node.split()[2]
    ]
    assert all(not {"auto_pad", "pads"} <= found.keys() for found in made)
    alone = rewrite(given, ambiguous=follows).model
    (found,) = [one for one in alone.graph.node if one.op_type == node.split()[2]]
    assert {one.name: onnx.helper.get_attribute_value(one) for one in found.attribute}[
        "pads"
    ] == written[follows]


def test_inspect_says_what_to_type() -> None:
    given = model(CONV)
    told = str(inspection_document(inspect(given, target="opencv"), "m.onnx"))
    assert "next: onnxpad rewrite m.onnx --target opencv --ambiguous auto_pad -o OUT\nor" in told
    told = str(inspection_document(inspect(given, target="opencv", ambiguous="pads"), "m.onnx"))
    assert "\nnext: onnxpad rewrite m.onnx --target opencv --ambiguous pads -o OUT\n" in told
    told = str(inspection_document(inspect(given, ambiguous="pads"), "m.onnx"))
    assert "\nnext: onnxpad rewrite m.onnx --ambiguous pads -o OUT\n" in told
