"""What the README and the topics of `explain` show is what happens."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import onnx
import pytest
from onnx import helper

from onnxpad import RequestError, explain, retarget
from tests.house.documents import DOCUMENTS, README, ROOT, blocks, commands, of, run, with_models
from tests.house.documents import shown as in_process
from tests.names import ENTRIES, PASSES, TARGETS, names

CONV = "node_Conv_95"
WORDS = 1_200
# Digits of rounding differ from processor to processor, and so does time.
ROUNDING = re.compile(r"\d+(\.\d+)?e-\d+|\d+(\.\d+)? %|in \d+\.\d s")
WITH_CONSOLES = [
    name for name in DOCUMENTS if any(one.language == "console" for one in blocks(name))
]


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= WORDS


def test_the_second_command_is_what_ci_runs() -> None:
    second = of("README", "sh")[1].strip()
    assert second == "python3 tests/check.py"
    assert "tests/check.py" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.part(5)
@pytest.mark.parametrize("document", WITH_CONSOLES)
def test_the_console_shows_what_is_printed(document: str, tmp_path: Path) -> None:
    folder = with_models(tmp_path)
    for block in of(document, "console"):
        for command, shown in commands(block):
            printed = in_process(command, folder)
            told = "run python -m tests.house.documents"
            assert ROUNDING.sub("#", printed.strip()) == ROUNDING.sub("#", shown.strip()), told


def test_commands_are_shown() -> None:
    assert {"README", "inspect", "rewrite", "retarget", "validate", "ci"} <= set(WITH_CONSOLES)
    assert sum(len(of(name, "console")) for name in WITH_CONSOLES) >= 15


def the_first_command(folder: Path) -> None:
    """What stands behind the installation, which `.ci/run` and `tests/check.py` do for real."""
    install, main = of("README", "sh")[0].strip().rsplit(" && ", 1)
    assert install == "python3 -m venv .venv && .venv/bin/pip install '.[gpu]'"
    printed = run(main.replace(".venv/bin/", ""), folder)
    assert "proved: both are the same function" in printed
    assert (folder / "yolo-explicit.onnx").exists()


def a_plan(folder: Path) -> None:
    (plan,) = of("plans", "json")
    (folder / "own.json").write_text(plan)
    command = "onnxpad retarget models/kt_net_even.onnx --plan own.json -o own.onnx"
    assert "2 nodes moved as planned, 0 unchanged, 0 skipped" in in_process(command, folder)
    nodes = {node.name: node for node in onnx.load(folder / "own.onnx").graph.node}
    attributes = {one.name: helper.get_attribute_value(one) for one in nodes[CONV].attribute}
    assert attributes["auto_pad"] == b"SAME_LOWER"


def python(folder: Path, document: str = "README") -> None:
    (folder / "example.py").write_text(of(document, "python")[0])
    printed = run("python example.py", folder)
    assert printed.splitlines()[0] == "10 padded operators"
    assert printed.splitlines()[-1].endswith("proved")


def a_runtime_of_your_own(folder: Path) -> None:
    (folder / "own.py").write_text(of("own-runtime", "python")[0])
    in_process("onnxpad rewrite models/pd_same_static_op13.onnx -o same-explicit.onnx", folder)
    run("python own.py", folder)
    command = of("own-runtime", "text")[-1]
    assert command.strip().startswith("onnxpad validate ")
    assert re.search(r"^(rounding|identical): ", run(command.strip(), folder), re.MULTILINE)


def settings(folder: Path, document: str = "README") -> None:
    project = folder / "project"
    shutil.copytree(folder / "models", project / "models")
    (project / "pyproject.toml").write_text(of(document, "toml")[0])
    run("onnxpad inspect models/*.onnx --write-baseline", project)
    assert "known findings in known.txt" in run("onnxpad inspect models/*.onnx", project)


def many_models(folder: Path) -> None:
    (folder / "many.py").write_text(of("batches", "python")[0])
    assert run("python many.py", folder).startswith(
        "{'rewritten': 5, 'not written': 1, 'unchanged': 4} [("
    )


EXAMPLES: dict[str, Callable[[Path], None]] = {
    "README": the_first_command,
    "plans": a_plan,
    "python": python,
    "examples of python": lambda folder: python(folder, "python"),
    "a runtime of your own": a_runtime_of_your_own,
    "settings": settings,
    "settings of the topic": lambda folder: settings(folder, "ci"),
    "many models": many_models,
}


@pytest.mark.part(5)
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str, tmp_path: Path) -> None:
    EXAMPLES[name](with_models(tmp_path))


def test_the_fields_of_plans_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (\w+) \|", explain("plans")[0].text, re.MULTILINE)
    plan = {"nodes": [{"node": CONV, "nobody": 1}]}
    with pytest.raises(RequestError) as caught:
        retarget(ROOT / "models" / "kt_net_even.onnx", plan=plan)
    keys = str(caught.value).partition("it takes ")[2].split(", ")
    assert rows == ["field", "node", *keys, "conventions"]


@pytest.mark.parametrize(
    ("topic", "rows"),
    [
        ("passes", PASSES),
        ("targets", TARGETS),
        ("operators", [name.split(".")[-1] for name in names("operator")]),
        ("measured", ["opencv", "tvm", "jaxonnxruntime"]),
    ],
)
def test_a_table_of_the_code_has_a_row_for_everything(topic: str, rows: Sequence[str]) -> None:
    (found,) = explain(topic)
    assert "{" not in found.text
    for name in rows:
        assert re.search(rf"[| ]{re.escape(name)}[,| ]", found.text), name


def test_recipes_name_passes() -> None:
    named = re.findall(r"--pass ([a-z-]+)", explain("recipes")[0].text)
    assert named
    assert {*named} <= {*PASSES}


def test_topics_name_topics_that_exist() -> None:
    """What a text sends a reader to is there."""
    known = {entry["name"] for entry in ENTRIES}
    for path in DOCUMENTS.values():
        for name in re.findall(r"explain ([a-z][a-z_-]+)", path.read_text(encoding="utf-8")):
            assert name in known, (path.name, name)


def test_lines_of_topics_fit_a_terminal() -> None:
    for name, path in DOCUMENTS.items():
        if path != README:
            prose = [one for one in path.read_text("utf-8").splitlines() if one[:1] not in " |"]
            assert max(map(len, prose)) <= 79, name
