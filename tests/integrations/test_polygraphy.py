"""The loader of Polygraphy, and the runner that `polygraphy run` finds by its entry point."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integrations.conftest import Host
from tests.integrations.models import shown

pytestmark = pytest.mark.part(2)

ZEROS = "models/t_yolotiny_zeropad_maxpool_ts.onnx"


def test_the_shown_script_loads_and_runs(host: Callable[[str], Host]) -> None:
    printed = host("polygraphy").program(shown("polygraphy"))
    assert "onnxpad for this model: 6 nodes rewritten (explicit-pads 6), 0 skipped" in printed
    assert "array" in printed


def test_the_runner_shows_that_onnxruntime_miscomputes_the_model(
    host: Callable[[str], Host],
) -> None:
    """With its faulty fusion off, onnxruntime agrees: `validate` runs the model like that too."""
    tool = host("polygraphy")
    printed = tool.fails(*shown("polygraphy run", "text").split())
    assert "onnxpad for onnxruntime@1.31: 1 node rewritten (auto-pads 1), 0 skipped" in printed
    assert "vs. onnxpad | Passed: 0/1 iterations" in printed


def test_onnxruntime_is_the_installed_release(host: Callable[[str], Host]) -> None:
    tool = host("polygraphy")
    for name, said in (("ORT", "1.31"), ("onnxruntime@1.32", "1.32")):
        options = f"--onnxpad --onnxpad-target {name} --gen-script -".split()
        printed = tool.run("polygraphy", "run", ZEROS, *options)
        assert f"target=['onnxruntime@{said}']" in printed


def test_equal_models_pass(host: Callable[[str], Host]) -> None:
    options = "--onnxrt --onnxpad --onnxpad-pass explicit-pads --onnxpad-pass split-pads"
    model = "models/pd_same_static_op13.onnx"
    printed = host("polygraphy").run("polygraphy", "run", model, *options.split())
    assert "nodes rewritten (explicit-pads 6, split-pads" in printed
    assert "Passed: 1/1 iterations" in printed


def test_dimensions_are_as_on_the_command_line(host: Callable[[str], Host]) -> None:
    options = "--onnxpad --onnxpad-dim height%32=0 --onnxpad-dim width=640"
    tool = host("polygraphy")
    printed = tool.run("polygraphy", "run", ZEROS, *options.split(), "--gen-script", "-")
    assert "dims={'height': '%32=0', 'width': 640}" in printed
    printed = tool.fails("polygraphy", "run", ZEROS, "--onnxpad", "--onnxpad-dim", "height")
    assert "cannot read 'height': expected NAME=SIZE or 'NAME%32=0'" in printed


def test_a_target_that_does_not_exist_is_an_error(host: Callable[[str], Host]) -> None:
    options = "--onnxpad --onnxpad-target nonsense"
    printed = host("polygraphy").fails("polygraphy", "run", ZEROS, *options.split())
    assert "no target is called 'nonsense'" in printed
