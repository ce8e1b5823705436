"""Chosen nodes alone change, with what earlier passes of the same call made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad import rewrite
from tests.models.text import text_model
from tests.models.tiny import kinds

MODEL = text_model(
    """[a] p = Conv <pads = [1, 2]> (x, w)
       [b] q = Conv <pads = [1, 2]> (p, w)
       [c] y = Conv <pads = [1, 2]> (q, w)""",
    constants="float[1,1,4] w = {1, 2, 3, 4}",
)
PASSES = ["split-pads", "concat-pads"]


@pytest.mark.parametrize("nodes", ["b", "b*", ["b"], ["b", "b"]])
def test_a_pass_sees_what_an_earlier_one_made_of_a_chosen_node(nodes: str | list[str]) -> None:
    assert kinds(rewrite(MODEL, passes=PASSES, nodes=nodes).model) == [
        "Conv",
        "Concat",
        "Conv",
        "Conv",
    ]


def test_a_target_sees_it_as_well(tmp_path: Path) -> None:
    npu = tmp_path / "npu.toml"
    rule = '[[rule]]\nanswer = "refuses"\noperators = '
    npu.write_text(f'takes = "all"\n{rule}["Pad"]\n{rule}"all"\nwhen = ["asymmetric"]\n')
    done = rewrite(MODEL, passes="split-pads", target=str(npu), nodes="b")
    assert kinds(done.model) == ["Conv", "Concat", "Conv", "Conv"]


def test_nodes_made_of_others_stay() -> None:
    once = rewrite(MODEL, passes="split-pads", nodes="a").model
    assert kinds(rewrite(once, passes=PASSES, nodes="b").model)[:2] == ["Pad", "Conv"]
