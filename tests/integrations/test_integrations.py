"""What all integrations share: options are judged first, and nothing goes on that does not fit."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import onnx.parser
import pytest

import onnxpad
from onnxpad.integrations import checked, rewritten_in_place
from tests.house.documents import ROOT

OPEN = ROOT / "models" / "k_unet_dyn_op13.onnx"


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"target": "opencvv"}, onnxpad.RequestError, "did you mean 'opencv'"),
        ({"passes": ["explicit-pad"]}, onnxpad.RequestError, "did you mean 'explicit-pads'"),
        ({"target": 3}, onnxpad.RequestError, "target is 3, and must be"),
        ({"targets": "opencv"}, TypeError, "unexpected keyword argument 'targets'"),
    ],
)
def test_wrong_options_are_refused_without_a_model(
    options: dict[str, Any], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        checked(options)


def test_options_that_only_a_model_can_judge_pass() -> None:
    checked({"target": ["opencv", "ncnn"], "dims": {"height": 640}, "nodes": "*/Conv"})
    checked({"passes": "split-pads", "allow_unknown": True, "timeout": 3})


def test_a_file_without_a_way_stays_as_it_was(tmp_path: Path) -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,2,8,8] x) => (float[a,b,c,d] y, i) '
        "{ y, i = MaxPool<kernel_shape = [3,3], pads = [1,1,1,1]>(x) }"
    )
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    before = path.read_bytes()
    with pytest.raises(onnxpad.RequestError, match="no way to write a node for ncnn: refuses: Max"):
        rewritten_in_place(path, target="ncnn")
    assert path.read_bytes() == before


def test_sizes_that_settle_what_is_not_known_are_told(tmp_path: Path) -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 13]> g (float[n,1,8,8] x) => (float[n,1,8,8] y) '
        "<float[1,1,3,3] w> { y = Conv<pads=[1,1,1,1]>(x, w) }"
    )
    model = onnx.parser.parse_model(text.replace("w>", f"w = {{{','.join('1' * 9)}}}>"))
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    said = rewritten_in_place(path, target="ncnn")
    assert said.startswith("onnxpad for ncnn: 0 nodes rewritten, 0 skipped")
    assert "try: --dim 'n=1' settles it" in said


def test_what_is_not_proved_says_so(tmp_path: Path) -> None:
    options = {"passes": ["explicit-pads", "runtime-pads"], "validate": True, "timeout": 1}
    said = rewritten_in_place(Path(shutil.copy(OPEN, tmp_path)), **options)
    assert "; not proved: " in said.splitlines()[0]
    dims = {"unk__9104": 1, "unk__9105": 224, "unk__9106": 224}
    proved = rewritten_in_place(
        Path(shutil.copy(OPEN, tmp_path)), **options | {"dims": dims, "timeout": 60}
    )
    assert proved.splitlines()[0].endswith("; proved")


def test_what_is_told_names_the_target_and_what_was_done(tmp_path: Path) -> None:
    path = Path(shutil.copy(ROOT / "models" / "t_same_string_ts.onnx", tmp_path))
    said = "onnxpad for opencv: 2 nodes rewritten (explicit-pads 2), 0 skipped; not proved: "
    assert rewritten_in_place(path, target="opencv").startswith(said)
    again = rewritten_in_place(path, target="opencv").splitlines()[:2]
    assert again[0] == "onnxpad for opencv: 0 nodes rewritten, 0 skipped"
    assert "opencv takes every operator that can pad as it is" in again[1]


def test_validate_proves_what_is_written(tmp_path: Path) -> None:
    path = Path(shutil.copy(ROOT / "models" / "t_same_string_ts.onnx", tmp_path))
    before = path.read_bytes()
    checked({"target": "opencv", "validate": True})
    said = rewritten_in_place(path, target="opencv", validate=True)
    done = "onnxpad for opencv: 2 nodes rewritten (explicit-pads 2), 0 skipped; proved"
    assert said.splitlines()[0] == done
    assert onnxpad.validate(before, path).verdict == "proved"


def test_what_is_not_validated_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(ROOT / "models" / "t_same_string_ts.onnx", tmp_path))
    before = path.read_bytes()
    other = ROOT / "models" / "pd_same_static_op13.onnx"
    differs = onnxpad.validate(other, onnxpad.retarget(other, to="pytorch").model, run_only=True)
    assert not differs.ok
    asked = list[dict[str, Any]]()

    def judge(*_models: object, **options: Any) -> onnxpad.Validation:
        asked.append(options)
        return differs

    monkeypatch.setattr(onnxpad, "validate", judge)
    with pytest.raises(onnxpad.RequestError, match=r"not validated.*stays as it was: different: "):
        rewritten_in_place(
            path, target="opencv", validate=True, ambiguous="pads", prefer="auto-pads"
        )
    assert path.read_bytes() == before
    assert asked == [{"ambiguous": "pads"}]
