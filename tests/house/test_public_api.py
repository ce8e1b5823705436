"""What `import onnxpad` offers."""

from __future__ import annotations

import inspect
import pydoc
import tomllib
from pathlib import Path

import pytest

import onnxpad
from onnxpad import errors

ROOT = Path(__file__).parents[2]


def test_all_names_are_there() -> None:
    for name in onnxpad.__all__:
        assert getattr(onnxpad, name) is not None
    assert set(dir(onnxpad)) < set(onnxpad.__all__)
    assert {"inspect", "rewrite", "validate", "save"} < set(dir(onnxpad))
    assert len(set(onnxpad.__all__)) == len(onnxpad.__all__)


def test_help_fits_on_a_few_screens(monkeypatch: pytest.MonkeyPatch) -> None:
    # From 3.13 on pydoc writes a long signature as a line for each parameter.
    whole = getattr(inspect.Signature, "format", None)
    if whole is not None:
        monkeypatch.setattr(inspect.Signature, "format", lambda self, **_: whole(self))
    assert len(pydoc.plain(pydoc.render_doc(onnxpad)).splitlines()) < 250


def test_a_verdict_is_false_where_models_differ() -> None:
    agreeing = {one for one in onnxpad.Verdict if one}
    assert agreeing == {"proved", "identical", "rounding", "tolerated"}


def test_targets_of_an_inspection_are_what_each_does_with_every_node() -> None:
    found = onnxpad.inspect(ROOT / "models" / "pd_same_static_op13.onnx", target=["ORT", "opencv"])
    assert list(found.targets) == ["onnxruntime", "opencv"]
    for verdicts in found.targets.values():
        assert [one.node.label for one in verdicts] == [one.node for one in found.nodes]


def test_a_star_import_gives_exactly_them() -> None:
    names: dict[str, object] = {}
    exec("from onnxpad import *", names)  # noqa: S102 - that is what is tested
    assert names.keys() - {"__builtins__"} == set(onnxpad.__all__)


def test_every_error_is_public() -> None:
    tree = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.OnnxpadError)
    }
    assert tree <= set(onnxpad.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'onnxpad' has no attribute 'inspekt'"):
        onnxpad.inspekt  # noqa: B018


def test_the_version_is_the_project_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert onnxpad.__version__ == project["version"]


def test_the_verbs_work_from_the_package() -> None:
    path = ROOT / "models" / "pd_same_static_op13.onnx"
    rewritten = onnxpad.rewrite(path)
    assert len(rewritten.changes) == 6
    assert onnxpad.inspect(rewritten.model).summary["forms"]["auto_pad"] == 0
