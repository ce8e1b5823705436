"""Adding a pass is adding one file: nothing else names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto, parser

from onnxpad import InternalError, RequestError, rewrite
from onnxpad.rewriting import passes

ADDED = '''"""Write SAME_LOWER as SAME_UPPER where stride 1 makes both pad alike."""

from dataclasses import replace

from onnxpad.padding.chain import AutoPad, Chain, Skip
from onnxpad.padding.forms import Form

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> Chain | Skip:
    odd = all(axis.span % 2 and axis.stride == 1 for axis in chain.axes)
    if chain.padding is not AutoPad.SAME_LOWER or not odd:
        return Skip("no SAME_LOWER with an odd window", moot=True)
    return replace(chain, padding=AutoPad.SAME_UPPER)
'''

MODEL = """<ir_version: 9, opset_import: ["" : 17]>
g (float[1,1,8] x, float[1,1,3] k) => (float[1,1,8] y) { y = Conv<auto_pad="SAME_LOWER">(x, k) }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(passes, "__path__", [*passes.__path__, str(tmp_path)])
    return tmp_path


def test_a_new_file_is_a_new_pass(folder: Path) -> None:
    (folder / "upper_same.py").write_text(ADDED)
    done = rewrite(parser.parse_model(MODEL), passes=["upper-same"])
    assert isinstance(done.model, ModelProto)
    assert done.model.graph.node[0].attribute[0].s == b"SAME_UPPER"
    assert passes.find_pass("upper-same").text.startswith("Write SAME_LOWER as SAME_UPPER")
    with pytest.raises(RequestError, match="did you mean 'upper-same'"):
        passes.find_pass("uper-same")


def test_a_file_without_its_declarations_is_reported(folder: Path) -> None:
    (folder / "half_done.py").write_text('"""Half done."""\n')
    with pytest.raises(InternalError, match=r"half_done\.py.*REMOVES"):
        passes.all_passes()


def test_a_pass_that_adds_what_it_does_not_declare_is_stopped(folder: Path) -> None:
    text = ADDED.replace("padding=AutoPad.SAME_UPPER", "padding=Pads((1,), (0,))")
    (folder / "liar.py").write_text(text.replace("AutoPad, Chain", "AutoPad, Chain, Pads"))
    with pytest.raises(InternalError, match="added asymmetric, pads to y"):
        rewrite(parser.parse_model(MODEL), passes=["liar"])


def test_every_pass_says_what_when_and_at_what_cost() -> None:
    for rule in passes.all_passes().values():
        for heading in ("What:", "Exact:", "Refuses:", "Cost:", "Example:"):
            assert heading in rule.text, (rule.name, heading)
