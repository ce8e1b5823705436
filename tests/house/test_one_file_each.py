"""A target, a pass, a convention and a quirk are one file or rule each, as DESIGN.md says.

Made-up ones are added to a copy of the package; the command line lists, explains and uses them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import onnx
import pytest

from tests.models.text import text_model

ROOT = Path(__file__).parents[2]
TARGET = """text = "The made-up runtime, which pads both sides of a convolution alike."
version = "made-up 1.0"

[[rule]]
operators = ["Conv", "Pad"]
answer = "takes"
evidence = "everything"

[[rule]]
operators = ["Conv"]
when = ["asymmetric"]
answer = "refuses"
evidence = "uneven pads"
"""
REWRITE = '''"""Write no padding as auto_pad=VALID.

What: pads of 0 become auto_pad=VALID.

Exact: always.

Refuses: pads that are not 0.

Cost: none.

Example: Conv pads=[0, 0] becomes VALID.
"""

from dataclasses import replace

from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind

REMOVES: set[Form] = set()
ADDS = {Form.AUTO_PAD}


def rewrite(chain: Chain) -> Chain | Skip:
    """Say VALID where nothing is padded."""
    if chain.op.kind is not Kind.CONVOLUTION or chain.padding != Pads.zero(chain.rank):
        return Skip("it pads", moot=True)
    return replace(chain, padding=AutoPad.VALID)
'''
CONVENTION = """
text = "The made-up framework, which pads in front alone."
source = "this test"

[words]
window = { role = "kernel", default = "required" }
pad = { role = "padding", modes = [["front", "causal"]], default = "front" }

[[layers]]
op = "conv"
words = ["window", "pad"]
"""
QUIRK = """
[[rule]]
operators = ["Conv"]
when = ["not auto_pad"]
pad_above = 3
answer = "refuses"
evidence = "pads of 4, written as numbers"
"""
"""What a runtime does otherwise, in its target's file: a rule in shared words."""
ADDED = {
    "runtimes/targets/made_up.toml": TARGET,
    "rewriting/passes/made_up_valid.py": REWRITE,
    "frameworks/conventions/made_up_net.toml": CONVENTION,
}
WEIGHT = "float[1,1,3] w = {1, 10, 100}"


class Said(NamedTuple):
    code: int
    out: str


class Copy:
    """The package with more files in it, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "onnxpad", folder / "onnxpad")
        for name, text in ADDED.items():
            (folder / "onnxpad" / name).write_text(text, encoding="utf-8")
        target = folder / "onnxpad/runtimes/targets/onnxruntime.toml"
        text = target.read_text(encoding="utf-8") + QUIRK
        target.write_text(text, encoding="utf-8")

    def conv(self, name: str, attributes: str, weight: str = WEIGHT) -> str:
        node = f"[node] y = Conv <{attributes}> (x, w)"
        model = text_model(node, outputs="float[1,1,c] y", constants=weight)
        onnx.save(model, self.folder / name)
        return name

    def onnxpad(self, *words: str) -> Said:
        done = subprocess.run(
            [sys.executable, "-m", "onnxpad", *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


def pads_of(path: Path) -> dict[str, object]:
    (node,) = (node for node in onnx.load(path).graph.node if node.op_type == "Conv")
    return {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}


@pytest.mark.parametrize("name", ["made-up", "made-up-valid", "made-up-net"])
def test_explain_lists_and_explains_it(copy: Copy, name: str) -> None:
    assert f"{name} " in copy.onnxpad("explain", "--all").out
    assert copy.onnxpad("explain", name).code == 0


def test_a_target_judges_and_is_written_for(copy: Copy) -> None:
    model = copy.conv("uneven.onnx", "pads=[2, 0]")
    said = copy.onnxpad("inspect", model, "--target", "made-up")
    assert said.code == 1
    assert "begin and end pads differ" in said.out
    assert copy.onnxpad("rewrite", model, "--target", "made-up", "-o", "for_it.onnx").code == 0
    assert copy.onnxpad("inspect", "for_it.onnx", "--target", "made-up").code == 0


def test_a_pass_rewrites(copy: Copy) -> None:
    model = copy.conv("bare.onnx", "pads=[0, 0]")
    said = copy.onnxpad("rewrite", model, "--pass", "made-up-valid", "-o", "valid.onnx")
    assert said.code == 0, said.out
    assert pads_of(copy.folder / "valid.onnx")["auto_pad"] == b"VALID"
    assert copy.onnxpad("validate", model, "valid.onnx", "--proof-only").code == 0


def test_a_convention_is_calculated_fits_and_is_moved_to(copy: Copy) -> None:
    said = copy.onnxpad("resolve", "made-up-net", "conv", "--input", "1,1,8", "--kernel", "3")
    assert said.code == 0, said.out
    assert "2,0" in said.out
    model = copy.conv("front.onnx", "pads=[2, 0]")
    (node,) = json.loads(copy.onnxpad("inspect", model, "--json").out)["nodes"]
    assert "made-up-net" in node["conventions"]
    other = copy.conv("both.onnx", "pads=[1, 1]")
    assert copy.onnxpad("retarget", other, "--to", "made-up-net", "-o", "moved.onnx").code == 0
    assert pads_of(copy.folder / "moved.onnx")["pads"] == [2, 0]


def test_a_quirk_of_onnxruntime_is_kept_from_what_is_written(copy: Copy) -> None:
    """The pipeline asks the target's file of what passes write, none of which knows of it."""
    weight = "float[1,1,9] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}"
    model = copy.conv("same.onnx", 'auto_pad="SAME_UPPER"', weight)
    said = copy.onnxpad("rewrite", model, "-o", "explicit.onnx")
    assert "a pad is above 3" in said.out
    assert (copy.folder / "explicit.onnx").read_bytes() == (copy.folder / model).read_bytes()
