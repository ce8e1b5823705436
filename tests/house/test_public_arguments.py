"""Arguments of the wrong kind: an error of onnxpad that says what to give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnxpad
from onnxpad import ModelError, RequestError

PATH = Path(__file__).parents[2] / "models" / "pd_same_static_op13.onnx"
MODEL = onnx.load(PATH)
X = np.zeros((1, 3, 40, 44), np.float32)
RUN = {"inputs": {"x": X}, "outputs": {"fetch_name_0": X}}
CONV = {"input_shape": (1, 3, 8, 8), "weight_shape": (4, 3, 3, 3)}

verbs: Any = onnxpad
ARGUMENTS: dict[str, tuple[Callable[[], object], str]] = {
    "no bytes": (lambda: verbs.rewrite(bytearray(), nodes=[5]), "nodes is .* must be a glob"),
    "input": (
        lambda: verbs.resolve("tf", "conv", input=(1, 3, 8, 8)),
        "input_shape is missing: give",
    ),
    "no shape": (lambda: verbs.resolve("tf", "conv"), "input_shape is missing"),
    "kernel": (
        lambda: verbs.resolve("tf", "conv", **CONV, kernel=3),
        "no attribute is called 'kernel'",
    ),
    "pads": (lambda: verbs.resolve("pytorch", "conv", **CONV, pads=3), "it is one of .*'padding'"),
    "no reference": (lambda: verbs.diagnose(MODEL), "give data, or inputs and outputs"),
    "arrays as data": (lambda: verbs.diagnose(MODEL, data={"x": 0}, **RUN), "data names files"),
    "data twice": (lambda: verbs.diagnose(MODEL, data="a", **RUN), "data holds inputs and outputs"),
    "atol": (lambda: verbs.validate(MODEL, MODEL, atol=-1), "atol is -1: give a number, 0 or"),
    "input_shapes": (
        lambda: verbs.validate(MODEL, MODEL, input_shapes={"y": (1,)}),
        "has no input 'y'",
    ),
    "no model": (lambda: verbs.inspect(None), "a model is a path, .*, not NoneType"),
    "target 5": (lambda: verbs.inspect(MODEL, target=5), "target is 5, and must be a name, or a"),
    "target [5]": (lambda: verbs.inspect(MODEL, target=[5]), r"target is \[5\], and must be"),
    "targets": (lambda: verbs.rewrite(MODEL, target=["ncnn", 5]), "must be a name, or a list"),
    "no target": (lambda: verbs.inspect(MODEL, target=[]), "target is an empty list: name a run"),
    "no targets": (lambda: verbs.rewrite(MODEL, target=()), "target is an empty list: name a run"),
    "all targets": (lambda: verbs.rewrite(MODEL, target="all"), "'all' is for inspect alone"),
    "dims list": (lambda: verbs.inspect(MODEL, dims=["H=3"]), "dims is .*, and must be a dict"),
    "dims text": (lambda: verbs.inspect(MODEL, dims="H=3"), "dims is 'H=3', and must be a dict"),
    "dims float": (lambda: verbs.inspect(MODEL, dims={"H": 3.5}), "dims is .*, and must be a d"),
    "nodes": (lambda: verbs.inspect(MODEL, nodes=[5]), "nodes is .* must be a glob over addresses"),
    "which": (lambda: verbs.inspect(MODEL, ambiguous="no"), "must be 'auto_pad' or 'pads'"),
    "inspect tpu": (lambda: verbs.inspect(PATH, device="tpu"), "must be 'cpu' or 'cuda'"),
    "timeout 0": (lambda: verbs.inspect(MODEL, timeout=0), "timeout is 0"),
    "passes": (lambda: verbs.rewrite(MODEL, passes=5), "passes is 5, and must be a name"),
    "prefer": (lambda: verbs.rewrite(MODEL, target="ncnn", prefer=[5]), "prefer is"),
    "progress": (lambda: verbs.rewrite(MODEL, progress=5), "progress is 5, and must be a function"),
    "legacy_split": (lambda: verbs.rewrite(MODEL, legacy_split="yes"), "must be True or False"),
    "to": (lambda: verbs.retarget(MODEL, to=["tf"]), "to is .*, and must be a name"),
    "plan": (lambda: verbs.retarget(MODEL, plan=[]), "plan is .*, and must be a Plan, its JSON"),
    "budget": (lambda: verbs.diagnose(MODEL, **RUN, budget="5"), "a number of seconds"),
    "timeout": (lambda: verbs.inspect(MODEL, timeout="5"), "timeout is '5', and must be a number"),
    "timeout True": (lambda: verbs.inspect(MODEL, timeout=True), "timeout is True, and must be a"),
    "budget True": (lambda: verbs.diagnose(MODEL, **RUN, budget=True), "a number of seconds"),
    "dims": (lambda: verbs.inspect(MODEL, dims=5), r"'width': '%32=0'"),
    "memory": (lambda: verbs.inspect(MODEL, memory=2.5), "bytes, or a text such as '4G'"),
    "diagnose tpu": (lambda: verbs.diagnose(MODEL, **RUN, device="tpu"), "'auto', 'cuda' or"),
    "validate tpu": (lambda: verbs.validate(MODEL, MODEL, device="tpu"), "'auto', 'cuda' or 'cpu'"),
    "device None": (lambda: verbs.validate(MODEL, MODEL, device=None), "'auto', 'cuda' or 'cpu'"),
    "samples": (lambda: verbs.validate(MODEL, MODEL, samples=3.0), "samples is 3.0, and must be a"),
    "seed": (lambda: verbs.validate(MODEL, MODEL, seed="a"), "seed is 'a', and must be a whole"),
    "input 5": (lambda: verbs.validate(MODEL, MODEL, inputs={5: X}), "has no input '5'"),
    "ragged": (
        lambda: verbs.validate(MODEL, MODEL, inputs={"x": ([[1, 2], [3]],)}),
        "input 'x' is no array: .*; give numpy arrays",
    ),
    "shape": (lambda: verbs.resolve("tf", "conv", **CONV | {"input_shape": "1,3"}), "input_shape"),
    "framework": (lambda: verbs.resolve(5, "conv", **CONV), "no convention is called '5'"),
    "explain": (lambda: verbs.explain(None), "name is None, and must be a name"),
    "load": (lambda: verbs.load(5), "path is 5, and must be the path of a file, or '-'"),
    "load bytes": (lambda: verbs.load(b"m.onnx"), "path is b'm.onnx', and must be the path"),
    "load a model": (
        lambda: verbs.load(b"m" * 1000),
        r"path is bytes \(1,003 characters in print\), and must be the path of a file",
    ),
    "save": (lambda: verbs.save(MODEL, None), "path is None, and must be the path of a file"),
    "save 5": (lambda: verbs.save(5, "m.onnx"), "save takes a ModelProto, not int"),
    "source": (lambda: verbs.save(MODEL, "m.onnx", source=5), "source is 5, and must be the path"),
    "to save": (lambda: verbs.rewrite(MODEL).save(5), "path is 5, and must be the path of a file"),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_wrong_kinds_are_said(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, said = ARGUMENTS[case]
    with pytest.raises(RequestError, match=said):
        call()
    assert list(tmp_path.iterdir()) == []


def test_lists_and_tuples_are_alike() -> None:
    once = onnxpad.rewrite(MODEL, passes=("split-pads",), nodes=("Conv*",), dims={})
    again = onnxpad.rewrite(MODEL, passes=["split-pads"], nodes=["Conv*"], dims={})
    assert once.to_json() == again.to_json()
    layer = onnxpad.resolve("tf", "conv", input_shape=[1, 3, 8, 8], weight_shape=[4, 3, 3, 3])
    assert layer.to_json() == verbs.resolve("tf", "conv", **CONV).to_json()


def test_no_message_repeats_more_than_a_line() -> None:
    for call in (
        lambda: onnxpad.load("n" * 100_000),
        lambda: onnxpad.explain("n" * 100_000),
        lambda: verbs.inspect(MODEL, dims={"H": 10**4_000}),
        lambda: verbs.inspect(MODEL, target="n" * 100_000),
    ):
        with pytest.raises((RequestError, ModelError)) as caught:
            call()
        assert len(str(caught.value)) < 3_000


def test_a_verdict_of_a_node_has_the_words_of_the_json() -> None:
    for one in onnxpad.inspect(MODEL, target="opencv").targets["opencv"]:
        told = one.to_json()
        assert (one.verdict, one.reason) == (told["verdict"], told["reason"])


def test_an_empty_list_of_passes_means_none() -> None:
    assert verbs.rewrite(MODEL).passes == ("explicit-pads",)
    done = verbs.rewrite(MODEL, passes=[])
    assert (done.passes, done.changed) == ((), False)
    assert done.model == MODEL
    both = verbs.rewrite(MODEL, passes=[], target="opencv")
    assert both.model == verbs.rewrite(MODEL, target="opencv").model
