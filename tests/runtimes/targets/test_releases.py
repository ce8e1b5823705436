"""Facts have releases: a target is asked for in one, and says what is not known of it."""

from __future__ import annotations

import pytest

from onnxpad import RequestError, explain, rewrite
from onnxpad.runtimes.releases import rows_in
from onnxpad.runtimes.targets import all_targets, find_target
from tests.models.text import text_model

SAME_TRANSPOSED = """
    y = ConvTranspose <auto_pad = "SAME_UPPER", kernel_shape = [3, 3], strides = [2, 2]> (x, w)
"""


def transposed() -> object:
    return text_model(
        SAME_TRANSPOSED,
        inputs="float[1, 1, 4, 4] x",
        outputs="float[1, 1, 8, 8] y",
        constants="float[1, 1, 3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
    )


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("openvino", ""),
        ("openvino@2024.6", ""),
        ("ov@2024.6.0", ""),
        ("openvino@2099.1", "judged as 2026.4; known"),
        ("openvino@2025.1", "judged as 2024.6 and 2025.3; known"),
        ("openvino@2020.1", "judged as 2023.3; known"),
    ],
)
def test_what_is_not_known_of_a_release_is_said(name: str, note: str) -> None:
    found = find_target(name)
    assert note in found.note if note else not found.note


def test_an_unknown_spelling_lists_the_releases() -> None:
    with pytest.raises(RequestError, match=r"no release 'newest': known are 2023\.3, 2024\.6"):
        find_target("openvino@newest")
    with pytest.raises(RequestError, match="is known"):
        find_target("coreml@10.0")
    with pytest.raises(RequestError, match="did you mean 'openvino'"):
        find_target("openvin@2024.6")


def test_a_release_has_rows_that_the_newest_has_not() -> None:
    model = transposed()
    assert not rewrite(model, target="openvino").changed
    older = rewrite(model, target="openvino@2024.6")
    assert older.changed
    assert older.target == "openvino@2024.6"
    assert not older.unfit


def test_releases_of_the_engine_before_are_those_of_the_other_target() -> None:
    assert find_target("opencv@4.10").name == "opencv-classic@4.10"
    assert find_target("opencv@3.4").name == "opencv-classic@3.4"
    for newer in ("5", "5.0", "5.0.0.93", "5.1"):
        assert find_target(f"opencv@{newer}").name == f"opencv@{newer}"


def test_explain_shows_the_history() -> None:
    (found,) = explain("openvino")
    facts = found.facts_by_name
    assert facts["releases"] == "2023.3, 2024.6, 2025.3, 2026.4"
    assert "up to 2025.3; measured" in facts["miscomputes"]
    assert "up to 2026.0; " in facts["refuses"]
    (older,) = explain("openvino@2024.6")
    assert older.name == "openvino@2024.6"
    assert "LpPool" in older.facts_by_name["refuses"]
    assert "LpPool" not in older.facts_by_name["takes"]


@pytest.mark.parametrize("name", all_targets())
def test_every_fact_holds_in_a_release_that_was_run(name: str) -> None:
    """What is told of a release that is judged as another one would never count."""
    target = find_target(name)
    held_once = {row for one in target.releases for row in rows_in(target.history, (one,))}
    assert not target.releases or {*target.history} == held_once


@pytest.mark.parametrize("written", ["1.0.20261020", "v1.0.20261020", "20261020"])
def test_a_version_that_ends_in_the_date_of_a_release_is_that_release(written: str) -> None:
    """Wheels of ncnn number themselves 1.0.DATE."""
    found = find_target(f"ncnn@{written}")
    assert (found.name, found.note) == ("ncnn@20261020", "")
    assert find_target("onnxruntime@1.32.0").name == "onnxruntime@1.32.0"
