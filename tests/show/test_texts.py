"""What reports say: names are harmless, all fits a screen, and what is to be typed next helps."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import onnxpad
from tests.command import run
from tests.models.text import text_model
from tests.models.traps import TRAPS

NO_FORM_HELPS = {
    *("auto-pad-with-pads", "pad-fused-beside-identity", "pad-on-weight", "negative-pads"),
    *("input-shorter-than-window", "no-cpu-kernel", "window-of-padding"),
    *("overridable-pads", "mixed-types", "optimised-only", "computed-pads"),
}


@pytest.mark.parametrize("code", TRAPS)
def test_what_inspect_offers_for_a_trap_mends_it_or_says_why_not(code: str) -> None:
    trapped = TRAPS[code][0]
    lines = onnxpad.inspect(trapped).to_text("m.onnx").splitlines()
    offers = [line.partition("onnxpad rewrite m.onnx ")[2].split() for line in lines]
    offers = [words for words in offers if words]
    if code == "auto-pad-with-pads":
        assert [one[:2] for one in offers] == [["--ambiguous", way] for way in ("auto_pad", "pads")]
        mended = onnxpad.rewrite(trapped, ambiguous="pads").model
        assert not any(one.traps for one in onnxpad.inspect(mended).nodes)
        return
    assert bool(offers) == (code not in NO_FORM_HELPS)
    for *_, option, name, _, _ in offers:
        given = {"passes": [name]} if option == "--pass" else {"target": name}
        done = onnxpad.rewrite(trapped, **given)
        left = {one.code for node in onnxpad.inspect(done.model).nodes for one in node.traps}
        assert code not in left or done.skips


def test_names_cannot_write_to_the_terminal() -> None:
    nodes = '[conv] y = Conv <strides=[2], auto_pad="SAME_UPPER"> (x, w)'
    weight = "float[1,1,3] w = {1, 10, 100}"
    model = text_model(nodes, "float[1,1,height] x", constants=weight)
    model.graph.node[0].name = "c\x1b[2J\nerror: forged"
    for report in (onnxpad.inspect(model), onnxpad.rewrite(model)):
        text = report.to_text("m\x1b]0;t\x07")
        assert r"c\x1b[2J\nerror: forged" in text
        assert text.replace("\n", "").isprintable()
        assert not any(line.startswith("error") for line in text.splitlines())


def test_no_report_fills_more_than_a_screen_unless_each_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ", ".join(f"float[1,1,3] w{number}" for number in range(60))
    nodes = " ".join(
        f'[n{number}] t{number} = Conv <auto_pad="SAME_UPPER", strides=[2], '
        f"dilations=[{1 + number}]> (x, w{number})"
        for number in range(60)
    )
    outputs = ", ".join(f"float[a,b,c] t{number}" for number in range(60))
    model = text_model(nodes, f"float[1,1,height] x, {sizes}", outputs=outputs)
    assert len(onnxpad.inspect(model).to_text().splitlines()) <= 60
    assert len(onnxpad.rewrite(model).to_text().splitlines()) <= 60
    onnx.save(model, tmp_path / "m.onnx")
    for line in (["inspect"], ["rewrite", "--check"]):
        run([*line, str(tmp_path / "m.onnx"), "--each"])
        text = capsys.readouterr().out
        assert all(f"n{number}" in text for number in range(60))
