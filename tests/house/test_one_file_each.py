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

import onnx

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
    "runtimes/targets/onnxruntime.toml": QUIRK,
}
CONVS = {
    "uneven": "pads=[2, 0]",
    "bare": "pads=[0, 0]",
    "both": "pads=[1, 1]",
    "same": 'auto_pad="SAME_UPPER"',
}
COMMANDS = (
    "explain --all",
    "explain made-up",
    "explain made-up-valid",
    "explain made-up-net",
    "inspect uneven.onnx --target made-up",
    "rewrite uneven.onnx --target made-up -o for_it.onnx",
    "inspect for_it.onnx --target made-up",
    "rewrite bare.onnx --pass made-up-valid -o valid.onnx",
    "validate bare.onnx valid.onnx --proof-only",
    "resolve made-up-net conv --input 1,1,8 --kernel 3",
    "inspect uneven.onnx --json",
    "retarget both.onnx --to made-up-net -o moved.onnx",
    "rewrite same.onnx -o explicit.onnx",
)
SESSION = f"""
import contextlib, io, json
from onnxpad.cli import run
told = {{}}
for line in {COMMANDS!r}:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        code = run(line.split())
    told[line] = (code, out.getvalue())
print(json.dumps(told))
"""


def test_each_is_one_file_or_rule(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "onnxpad", tmp_path / "onnxpad")
    for name, text in ADDED.items():
        with (tmp_path / "onnxpad" / name).open("a", encoding="utf-8") as file:
            file.write(text)
    for name, attributes in CONVS.items():
        size = 9 if name == "same" else 3
        weight = f"float[1,1,{size}] w = {{{', '.join(map(str, range(1, size + 1)))}}}"
        node = f"[node] y = Conv <{attributes}> (x, w)"
        model = text_model(node, outputs="float[1,1,c] y", constants=weight)
        onnx.save(model, tmp_path / f"{name}.onnx")
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    findings = "inspect uneven.onnx --target made-up"
    assert {line for line, (code, _) in told.items() if code} == {findings}
    assert "begin and end pads differ" in told[findings][1]
    for name in ("made-up", "made-up-valid", "made-up-net"):
        assert f"{name} " in told["explain --all"][1]
    assert "2,0" in told["resolve made-up-net conv --input 1,1,8 --kernel 3"][1]
    (node,) = json.loads(told["inspect uneven.onnx --json"][1])["nodes"]
    assert "made-up-net" in node["conventions"]
    assert pads_of(tmp_path / "valid.onnx")["auto_pad"] == b"VALID"
    assert pads_of(tmp_path / "moved.onnx")["pads"] == [2, 0]
    # The pipeline asks the target's file of what passes write, none of which knows of the quirk.
    assert "a pad is above 3" in told["rewrite same.onnx -o explicit.onnx"][1]
    assert (tmp_path / "explicit.onnx").read_bytes() == (tmp_path / "same.onnx").read_bytes()


def pads_of(path: Path) -> dict[str, object]:
    (node,) = (node for node in onnx.load(path).graph.node if node.op_type == "Conv")
    return {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
