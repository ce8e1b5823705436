"""repeated-mirrors: numpy goes back and forth, and so do the Pads that it writes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad import inspect, rewrite
from onnxpad.rewriting.passes import repeated_mirrors
from tests.models.text import text_model
from tests.oracle.interpreter import run_model


def mirrored(
    size: int, pads: tuple[int, int], *, opset: int = 13, other: tuple[int, int] = (0, 0)
) -> onnx.ModelProto:
    flat = (0, pads[0], other[0], 0, pads[1], other[1])
    return text_model(
        'y = Pad <mode = "reflect"> (x, p)',
        f"float[1,{size},3] x",
        outputs="float[1,a,b] y",
        constants=f"int64[6] p = {{{', '.join(map(str, flat))}}}",
        opset=opset,
    )


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_it_mirrors_as_numpy_does(size: int) -> None:
    x = np.arange(3 * size, dtype=np.float32).reshape(1, size, 3)
    for pads in ((size, 0), (0, size), (size, size + 1), (1, 3 * size), (4 * size, 5), (17, 23)):
        for other in ((0, 0), (1, 2), (-1, 0)):
            done = rewrite(mirrored(size, pads, other=other), passes="repeated-mirrors")
            assert isinstance(done.model, onnx.ModelProto)
            wanted = np.pad(x, ((0, 0), pads, (0, 0)), mode="reflect")
            kept = wanted[:, :, 1:] if other[0] < 0 else wanted
            sides = (max(0, other[0]), other[1])
            wanted = np.pad(kept, ((0, 0), (0, 0), sides), mode="reflect")
            np.testing.assert_array_equal(run_model(done.model, {"x": x})["y"], wanted)


def test_few_pads_are_enough() -> None:
    """The axis grows to three times its length each time."""
    done = rewrite(mirrored(2, (1000, 1000)), passes="repeated-mirrors")
    assert isinstance(done.model, onnx.ModelProto)
    assert [node.op_type for node in done.model.graph.node] == ["Pad"] * 7


def test_what_is_no_wider_is_left_and_one_cell_refused() -> None:
    assert not rewrite(mirrored(4, (3, 3)), passes="repeated-mirrors").changed
    (skip,) = rewrite(mirrored(1, (1, 0)), passes="repeated-mirrors").skips
    assert skip.skip.reason == "axis 1 has no second cell to mirror"


def test_an_axis_that_is_cropped_away_ends() -> None:
    before = mirrored(1, (-1, 0), other=(3, 0))
    done = rewrite(before, passes="repeated-mirrors")
    assert isinstance(done.model, onnx.ModelProto)
    x = np.zeros((1, 1, 3), np.float32)
    assert run_model(done.model, {"x": x})["y"].shape == (1, 0, 6)


def test_a_very_wide_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_mirrors, "_MOST_PADS", 6)
    (skip,) = rewrite(mirrored(2, (1000, 1000)), passes="repeated-mirrors").skips
    assert skip.skip.reason == "it would take 7 Pads, 6 are the most"


def test_inspect_shows_it_and_plain_pad_names_the_pass() -> None:
    model = mirrored(3, (3, 0))
    (node,) = inspect(model).nodes
    assert "wide-reflect" in {str(form) for form in node.forms}
    (skip,) = rewrite(model, passes="plain-pad").skips
    assert skip.skip.hints == ("--pass repeated-mirrors",)
