"""The pass of Olive, which a package configuration names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import onnxpad
from tests.integrations.conftest import Host
from tests.integrations.models import SAME, fits, proved, shown

pytestmark = pytest.mark.sweep


def run(tool: Host, target: str = "opencv") -> Callable[..., str]:
    """The command as it is shown, with both files beside the models."""
    workflow = shown("input_model", "json").replace('"opencv"', f'"{target}"')
    (tool.folder / "workflow.json").write_text(workflow)
    (tool.folder / "passes.json").write_text(shown("module_path", "json"))
    words = shown("olive run", "text").split()
    return lambda: tool.fails(*words) if target == "nonsense" else tool.run(*words)


def test_what_is_shown_works(host: Callable[[str], Host]) -> None:
    tool = host("olive")
    assert "onnxpad for opencv: 2 nodes rewritten (explicit-pads 2), 0 skipped" in run(tool)()
    after = tool.folder / "olive" / "model.onnx"
    assert fits(after, "opencv")
    assert proved(SAME, after)


def test_a_target_that_does_not_exist_fails_the_workflow(host: Callable[[str], Host]) -> None:
    tool = host("olive")
    assert "no target is called 'nonsense'" in run(tool, "nonsense")()


@pytest.mark.parametrize("first", [True, False])
def test_it_protects_a_dilated_same_from_the_peephole_pass(
    host: Callable[[str], Host], *, first: bool
) -> None:
    """Both passes in one workflow: the entry stands in a copy of Olive's own list."""
    tool = host("olive")
    (own,) = Path(tool.python).parents[1].glob("lib/*/site-packages/olive/olive_config.json")
    known = json.loads(own.read_text())
    known["passes"] |= json.loads(shown("module_path", "json"))["passes"]
    steps = {"padding": {"type": "OnnxpadRewrite"}, "other": {"type": "OnnxPeepholeOptimizer"}}
    workflow = json.loads(shown("input_model", "json"))
    workflow["passes"] = steps if first else dict(reversed(steps.items()))
    (tool.folder / "workflow.json").write_text(json.dumps(workflow))
    (tool.folder / "passes.json").write_text(json.dumps(known))
    tool.run(*shown("olive run", "text").split())
    found = onnxpad.validate(SAME, tool.folder / "olive" / "model.onnx", proof_only=True)
    assert found.verdict == ("proved" if first else "different")
