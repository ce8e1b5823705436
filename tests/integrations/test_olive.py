"""The pass of Olive, which a package configuration names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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
    assert "onnxpad: 2 nodes rewritten (explicit-pads 2), 0 skipped" in run(tool)()
    after = tool.folder / "olive" / "model.onnx"
    assert fits(after, "opencv")
    assert proved(SAME, after)


def test_a_target_that_does_not_exist_fails_the_workflow(host: Callable[[str], Host]) -> None:
    tool = host("olive")
    assert "no target is called 'nonsense'" in run(tool, "nonsense")()
