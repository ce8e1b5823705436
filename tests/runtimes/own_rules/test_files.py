"""Files of rules: what is read, what is written, and what a wrong file is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onnxpad import RequestError, explain, inspect
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.conditions.words import WORDS
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.targets import find_target
from tests.models.text import text_model

RULE = '[[rule]]\noperators = ["Conv"]\n'
GOOD = RULE + 'answer = "refuses"\n'
CONV = text_model(
    "y = Conv <pads = [1, 2]> (x, w)", constants="float[1,1,3] w = {1, 2, 3}", opset=13
)


WRONG = {
    "no TOML": ("takes = [\n", "not TOML: .*at end"),
    "unknown key": ('version = "1"\ntake = ["Conv"]\n', "'take' is none .*'takes'"),
    "the second rule": (GOOD + GOOD + "evidnce = ''\n", "rule 2: 'evidnce' .*'evidence'"),
    "no answer": ("takes = []\n" + RULE, "rule 1 lacks .*'answer'"),
    "answer": (RULE + 'answer = "refuse"\n', "rule 1, answer: .*'refuses'"),
    "all in a list": (GOOD.replace("Conv", "all"), "rule 1, operators: 'all' is none"),
    "operator": ('[[rule]]\noperators = ["Convv"]\nanswer = "takes"\n', "rule 1, op.*'Conv'"),
    "word": (GOOD + 'when = ["same", "not asymetric"]\n', "rule 1, when: .*'not asymmetric'"),
    "number missing": (GOOD + 'when = ["pad_above"]\n', "when: .*pad_above = 3"),
    "truth for a number": (GOOD + "pad_above = true\n", "pad_above: it takes a whole number"),
    "words of a Slice": (
        '[[rule]]\noperators = ["Slice"]\nwhen = ["strided"]\nanswer = "refuses"\n',
        "operators: 'Slice' does not pad",
    ),
    "name": ('name = "my npu"\n' + GOOD, "name: 'my npu' is no name"),
    "name of a built-in target": ('name = "trt"\n' + GOOD, "name: 'trt'"),
    "escape sequences": (GOOD + 'says = "\\u001b[31m"\n', "rule 1, says: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_told_the_rule_and_the_key(name: str, tmp_path: Path) -> None:
    text, told = WRONG[name]
    path = tmp_path / "npu.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RequestError, match=re.escape(str(path))) as raised:
        find_target(str(path))
    assert re.search(told, str(raised.value)), raised.value


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    folder, latin, large = (tmp_path / f"{name}.toml" for name in ("folder", "latin", "large"))
    folder.mkdir()
    latin.write_bytes(b"takes = []\n# \xe9\n")
    large.write_bytes(b"#" * (2 << 20))
    for path, told in {
        folder: "cannot read",
        latin: "utf-8",
        large: "bytes",
        tmp_path / "no.toml": "No such file",
        "a\0b.toml": "cannot read",
    }.items():
        with pytest.raises(RequestError, match=told):
            find_target(str(path))


def _saved(folder: Path, name: str, text: str = GOOD) -> str:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return str(path)


def test_a_target_is_known_by_its_name_once_its_file_was_read(tmp_path: Path) -> None:
    path = _saved(tmp_path, "my rules.toml", 'name = "npu-1"\n' + GOOD)
    target = find_target(path)
    assert target.name == "npu-1"
    assert find_target("npu-1") is target
    assert asked_as("npu-1") == f"'{path}'"
    Path(path).write_text('name = "npu-1"\n' + GOOD + 'when = ["same"]\n')
    assert find_target("npu-1").rows[0].when


def test_the_file_of_a_built_in_name_is_the_users_own(tmp_path: Path) -> None:
    path = _saved(tmp_path, "opencv.toml")
    assert find_target(path).name == "own-opencv"
    assert len(find_target("opencv").rows) > 10


def test_negative_pads_are_taken_only_if_a_rule_says_so(tmp_path: Path) -> None:
    model = text_model("y = Conv <pads = [-1, 0]> (x, w)", constants="float[1,1,3] w = {1, 2, 3}")
    path = _saved(tmp_path, "npu.toml", 'takes = ["Conv"]\n')
    assert inspect(model, target=path).targets["npu"][0].judgement.answer is Answer.UNKNOWN
    Path(path).write_text(f'{RULE}when = ["negative_pads"]\nanswer = "takes"\n')
    assert inspect(model, target=path).targets["npu"][0].judgement.answer is Answer.TAKES


def test_the_example_of_the_topic_is_read(tmp_path: Path) -> None:
    text = explain("conditions")[0].text
    (example,) = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", text, re.MULTILINE)
    path = _saved(tmp_path, "npu.toml", re.sub("^    ", "", example, flags=re.MULTILINE))
    assert len(find_target(path).rows) == 4
    for name in WORDS:
        assert re.search(rf"^\| {name}( = N)? \|", text, re.MULTILINE), name


@pytest.mark.parametrize(
    ("file", "name"), [("npu.toml", 'name = "evil.py"\n'), ("evil.py.toml", "")]
)
def test_no_rules_name_a_program_that_would_be_started(
    file: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = "from pathlib import Path\nPath('started').touch()\n"
    (tmp_path / "evil.py").write_text(script + "def run(model, inputs): ...\n", encoding="utf-8")
    with pytest.raises(RequestError):
        inspect(CONV, target=_saved(tmp_path, file, name + GOOD))
    assert not (tmp_path / "started").exists()
