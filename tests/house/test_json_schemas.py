"""The schemas that are shipped are those of the types, and hold for what every verb prints."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from onnx import parser

from tests.cli.processes import DYNAMIC, MODELS, ROOT, SAME
from tests.command import run
from tests.house.json_schemas import FOLDER, schemas

Captured = pytest.CaptureFixture[str]
CORPUS = sorted((ROOT.parent / "shared" / "corpus" / "models").glob("*.onnx"))
SMALL = [one for one in CORPUS if one.stat().st_size < 100_000][::10]
NETS = (*sorted(MODELS.glob("*.onnx")), *SMALL)
KT = MODELS / "kt_net_even.onnx"
NAMES = [one.stem for one in NETS]
CONV = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,4,4] x, float[1,1,3,3] w) => (float[1,1,4,4] y) {
  [conv] y = Conv<pads=[PADS]>(x, w)
}"""


def closed(part: Any) -> Any:
    """The schema without leave for later releases: no other fields, no other words."""
    if isinstance(part, list):
        return [closed(one) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: closed(one) for key, one in part.items()}
    if isinstance(part.get("properties"), dict) and "required" in part:
        found.setdefault("additionalProperties", False)
    if isinstance(part.get("examples"), list):
        found["enum"] = part["examples"]
    return found


@cache
def validator(verb: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / f"{verb}.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(closed(schema))


def holds(capsys: Captured, verb: str, *line: str | Path, code: int | None = None) -> list[Any]:
    """What a verb prints with --json, line by line, after its schema was asked."""
    capsys.readouterr()
    status = run([verb, *map(str, line), "--json"])
    shown = capsys.readouterr()
    assert status in ((0, 1) if code is None else (code,)), shown.err
    reports = [json.loads(one) for one in shown.out.splitlines()]
    assert reports
    for report in reports:
        validator(verb).validate(report)
    return reports


def saved(folder: Path, pads: str) -> Path:
    path = folder / f"{pads}.onnx"
    path.write_bytes(parser.parse_model(CONV.replace("PADS", pads)).SerializeToString())
    return path


def test_every_verb_has_one_and_it_is_that_of_the_code() -> None:
    shipped = {file.stem: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.json")}
    assert shipped == schemas(), "run python -m tests.house.json_schemas"


@pytest.mark.part(3)
@pytest.mark.parametrize("model", NETS, ids=NAMES)
def test_inspect(capsys: Captured, model: Path) -> None:
    holds(capsys, "inspect", model, "--target", "opencv", "--target", "tvm", "--fail-on", "trap")


@pytest.mark.parametrize("model", [SAME, DYNAMIC, KT], ids=["same", "dynamic", "kt"])
def test_rewrite(capsys: Captured, model: Path) -> None:
    holds(capsys, "rewrite", model, "--dry-run", "--pass", "split-pads", "--pass", "floor-pool")
    holds(capsys, "rewrite", model, "--check", "--target", "opencv")


@pytest.mark.part(3)
@pytest.mark.parametrize("model", NETS, ids=NAMES)
def test_retarget(capsys: Captured, model: Path) -> None:
    holds(capsys, "retarget", model, "--to", "pytorch", "--dry-run")


def test_what_runs(capsys: Captured, tmp_path: Path) -> None:
    out, moved = tmp_path / "out.onnx", tmp_path / "moved.onnx"
    holds(capsys, "inspect", SAME, "--device", "cpu", code=0)
    (done,) = holds(capsys, "rewrite", SAME, "-o", out, "--validate", "--samples", "1", code=0)
    assert done["validation"]["ok"]
    (done,) = holds(capsys, "retarget", KT, "--to", "pytorch", "--validate", "-o", moved)
    assert done["moved"]["rows"]
    holds(capsys, "validate", SAME, out, "--samples", "1", code=0)
    holds(capsys, "validate", KT, "--data", KT.with_suffix(".npz"), code=0)
    holds(capsys, "validate", SAME, out, "--proof-only", code=0)
    one, other = (saved(tmp_path, pads) for pads in ("1,1,1,1", "0,0,2,2"))
    holds(capsys, "validate", one, other, "--samples", "1", code=1)
    (found,) = holds(capsys, "validate", one, other, "--proof-only", code=1)
    assert found["proof"]["counterexample"]["inputs"]
    (found,) = holds(capsys, "diagnose", moved, "--data", KT.with_suffix(".npz"), code=0)
    assert found["plan"]["nodes"]


def test_models_that_come_to_nothing(capsys: Captured, tmp_path: Path) -> None:
    folder, bad = tmp_path / "models", tmp_path / "models" / "bad.onnx"
    folder.mkdir()
    bad.write_bytes(b"damaged")
    (folder / "fine.onnx").write_bytes(KT.read_bytes())
    for verb, *options in (["inspect"], ["rewrite", "--check"], ["retarget", "--to=tf", "--check"]):
        for models in ([bad], [bad, KT], [folder]):
            first, *_ = holds(capsys, verb, *models, *options, code=2)
            assert first["error"]["message"].startswith(str(bad))
            assert first["error"]["kind"] == "ModelError"
    found, *_ = holds(capsys, "validate", folder, folder, "--proof-only", code=2)
    assert found["error"]["kind"] == "ModelError"
    refused = ("rewrite", DYNAMIC, "--strict", "-o", tmp_path / "out.onnx")
    (found,) = holds(capsys, *refused, code=1)
    assert "--strict allows no skips" in found["refused"]


def test_what_is_read_or_worked_out(capsys: Captured) -> None:
    layer = ("tensorflow", "conv", "--input", "1,3,9,9", "--kernel", "3", "--stride", "2")
    holds(capsys, "resolve", *layer, "--padding", "SAME", "--as", "pytorch")
    holds(capsys, "resolve", *layer, "--padding", "SAME", "--compare", "pytorch padding=1")
    holds(capsys, "resolve", "caffe", "avg_pool", "--input", "1,3,9,9", "--kernel", "3")
    assert len(holds(capsys, "explain")) > 100


def test_only_later_releases_may_print_other_fields_and_words(capsys: Captured) -> None:
    """Neither raises the version, so what is shipped takes them and the tests' reading does not."""
    (report,) = holds(capsys, "inspect", SAME, "--target", "opencv")
    shipped = Draft202012Validator(json.loads((FOLDER / "inspect.json").read_bytes()))
    later = [report | {"new": 1}, json.loads(json.dumps(report).replace('"miscomputes"', '"errs"'))]
    assert all(shipped.is_valid(one) for one in later)
    less = {key: value for key, value in report.items() if key != "assumed"}
    wrong = report | {"findings": [report["findings"][0] | {"fails": "yes"}]}
    assert not any(
        shipped.is_valid(one) for one in (report | {"schema": report["schema"] + 1}, less, wrong)
    )
    assert not any(validator("inspect").is_valid(one) for one in (*later, less, wrong))


def test_explain_prints_them(capsys: Captured) -> None:
    assert run(["explain", "--schema", "inspect"]) == 0
    assert capsys.readouterr().out == (FOLDER / "inspect.json").read_text(encoding="utf-8")
    assert run(["explain", "--schema", "inspct"]) == 2
    assert "the verbs are diagnose, explain" in capsys.readouterr().err
    assert run(["explain", "--schema", "inspect", "Conv"]) == 2
