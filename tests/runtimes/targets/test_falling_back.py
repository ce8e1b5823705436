"""What a device leaves to the CPU: right and slow, and taken unless the device is required."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from onnxpad import RequestError, rewrite
from tests.command import run
from tests.models.text import text_model

LP_POOL = text_model(
    "y = LpPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], p = 2> (x)",
    inputs="float[1, 2, 8, 8] x",
    outputs="float[1, 2, 8, 8] y",
    opset=17,
)
INDICES = text_model(
    "y, i = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)",
    inputs="float[1, 2, 8, 8] x",
    outputs="float[1, 2, 8, 8] y, int64[1, 2, 8, 8] i",
    opset=17,
)


def test_who_requires_the_device_gets_it() -> None:
    done = rewrite(LP_POOL, target="webgpu", require_device=True)
    assert done.changed
    assert not done.unfit
    assert isinstance(done.model, onnx.ModelProto)
    assert "LpPool" not in {node.op_type for node in done.model.graph.node}


def test_where_there_is_no_way_to_the_device_it_is_said() -> None:
    assert not rewrite(INDICES, target="coreml").unfit
    (left,) = rewrite(INDICES, target="coreml", require_device=True).unfit
    assert left.judgement.answer == "falls back"


def test_the_device_is_that_of_a_target() -> None:
    with pytest.raises(RequestError, match="--require-device: only together with --target T"):
        rewrite(LP_POOL, require_device=True)


def saved(model: onnx.ModelProto, tmp_path: Path) -> str:
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    return str(path)


@pytest.mark.parametrize(
    ("model", "target", "others", "has_way"),
    [
        (LP_POOL, "webgpu", (), True),
        (LP_POOL, "webgpu", ("openvino",), True),
        (INDICES, "coreml", (), False),
    ],
)
def test_every_report_gives_the_same_advice(
    model: onnx.ModelProto,
    target: str,
    others: tuple[str, ...],
    *,
    has_way: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = saved(model, tmp_path)
    asked = [word for name in (target, *others) for word in ("--target", name)]
    command = f"onnxpad rewrite {path} {' '.join(asked)} --require-device -o OUT"
    assert run(["inspect", path, *asked]) == 0
    shown = capsys.readouterr().out
    assert "falls back 1" in shown
    assert (f"next: {command}\n" in shown) is has_way
    assert run(["inspect", path, *asked, "--fail-on", "fallback"]) == 1
    assert (command in capsys.readouterr().err) is has_way
    assert run(["inspect", path, *asked, "--json"]) == 0
    (verdict,) = json.loads(capsys.readouterr().out)["targets"][target]
    assert (verdict["verdict"], verdict["on_device"]) == ("falls back", has_way)
    out = tmp_path / "o.onnx"
    assert run([*command.split()[1:-1], str(out)]) == (0 if has_way else 1)
