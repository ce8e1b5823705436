"""Models are compared and run while their large weights stay in their files."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxpad import rewrite, validate
from onnxpad.errors import ModelError
from onnxpad.model.comparing.networks import open_lean_network
from onnxpad.model.comparing.pieces import exposed, renamed
from onnxpad.model.opened import open_model
from onnxpad.proof.graphs import Constant
from onnxpad.sessions import RunFailure, Settings
from onnxpad.validation import Verdict
from onnxpad.validation.bench import Bench
from onnxpad.validation.interface import matched

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no file is left unread there")
OLD = (1_000_000_000, 1_000_000_000)
SHAPE = (190, 190, 4, 4)


def model(*, pads: bool = False, seed: int = 0) -> ModelProto:
    """Two convolutions with 2.3 MB of weights each, of SAME_UPPER or with `pads`."""
    random = np.random.default_rng(seed)
    padded = {"pads": [1, 1, 2, 2]} if pads else {"auto_pad": "SAME_UPPER"}
    nodes = [
        helper.make_node("Conv", [f"t{at}", f"w{at}", "b"], [f"t{at + 1}"], **padded)
        for at in range(2)
    ]
    held = [(random.standard_normal(SHAPE) / 50).astype(np.float32) for _ in range(2)]
    constants = [numpy_helper.from_array(array, f"w{place}") for place, array in enumerate(held)]
    constants.insert(1, numpy_helper.from_array(np.ones(190, np.float32), "b"))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 190, 5, 5])],
        [helper.make_tensor_value_info("t2", TensorProto.FLOAT, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def written(path: Path, model: ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    os.utime(path, OLD)
    return path


def test_large_weights_are_referred_to_and_come_back(tmp_path: Path) -> None:
    network = open_lean_network(written(tmp_path / "m.onnx", model()))
    assert network.model.ByteSize() < 10_000
    assert ModelProto.FromString(network.serialised()) == model()
    assert network.outside_bytes == 0
    for tensor in model().graph.initializer:
        value = network.constant(tensor.name)
        assert value is not None
        np.testing.assert_array_equal(value, numpy_helper.to_array(tensor))


def test_copies_under_other_names_and_with_more_outputs_have_their_weights(tmp_path: Path) -> None:
    network = open_lean_network(written(tmp_path / "m.onnx", model()))
    whole = ModelProto.FromString(exposed(renamed(network, {"w0": "first"}), ["t1"]))
    assert [value.name for value in whole.graph.output] == ["t2", "t1"]
    assert [len(tensor.raw_data) for tensor in whole.graph.initializer] == [2310400, 760, 2310400]
    assert whole.graph.initializer[0].name == "first"


def _as_numbers(model: ModelProto) -> None:
    tensor = model.graph.initializer[0]
    values = numpy_helper.to_array(tensor).ravel()
    tensor.ClearField("raw_data")
    tensor.float_data.extend(values)


def _twice(model: ModelProto) -> None:
    model.graph.initializer.add().CopyFrom(model.graph.initializer[1])


@pytest.mark.parametrize("changed", [_as_numbers, _twice])
def test_weights_in_other_forms_are_held(
    tmp_path: Path, changed: Callable[[ModelProto], None]
) -> None:
    proto = model()
    changed(proto)
    network = open_lean_network(written(tmp_path / "m.onnx", proto))
    assert ModelProto.FromString(network.serialised()) == proto


def test_a_link_to_a_model_is_the_model(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    link = tmp_path / "m.onnx"
    link.symlink_to(written(tmp_path / "blobs" / "0", model()))
    found = validate(link, written(tmp_path / "n.onnx", model(pads=True)), device="cpu")
    assert found.verdict is Verdict.PROVED


def test_a_difference_in_the_last_bytes_of_a_weight_is_seen(tmp_path: Path) -> None:
    other = model(pads=True)
    tensor = other.graph.initializer[2]
    tensor.raw_data = tensor.raw_data[:-4] + np.float32(3).tobytes()
    paths = written(tmp_path / "m.onnx", model()), written(tmp_path / "n.onnx", other)
    found = validate(*paths, run_only=True, device="cpu", samples=1)
    assert found.verdict is Verdict.DIFFERENT


def test_the_kernel_reads_what_was_left(tmp_path: Path) -> None:
    network = open_lean_network(written(tmp_path / "m.onnx", model()))
    for left, held in zip(network.model.graph.initializer, model().graph.initializer, strict=True):
        one, other = Constant(left, network.outside), Constant(held, None)
        assert one.digest() == other.digest()
        np.testing.assert_array_equal(one.numbers(), other.numbers())


@pytest.mark.parametrize("options", [{"proof_only": True}, {"run_only": True, "device": "cpu"}])
def test_a_file_that_changes_meanwhile_is_an_error(
    tmp_path: Path, options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = written(tmp_path / "m.onnx", model())
    second = written(tmp_path / "n.onnx", model(pads=True))

    def changing(*given: object) -> object:
        first.write_bytes(model(seed=1).SerializeToString())
        return matched(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("onnxpad.validation.matched", changing)
    with pytest.raises(ModelError, match=r"m\.onnx: the file was changed while onnxpad worked"):
        validate(first, second, **options)  # type: ignore[arg-type]


def test_a_rewritten_model_keeps_its_weights_in_the_file_and_new_ones_in_itself(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "m.onnx", model())
    found = rewrite(path, passes=["symmetric-pads-by-kernel"])
    network = open_lean_network(found.unread)
    assert network.left is not None
    assert ModelProto.FromString(network.serialised()) == found.model
    assert found.changed
    assert validate(path, found.unread, device="cpu", samples=1, run_only=True).ok


def test_an_edited_weight_is_not_taken_from_the_file(tmp_path: Path) -> None:
    opened = open_model(written(tmp_path / "m.onnx", model()))
    tensor = opened.model.graph.initializer[2]
    tensor.CopyFrom(numpy_helper.from_array(np.zeros(SHAPE, np.float32), tensor.name))
    whole = ModelProto.FromString(open_lean_network(opened).serialised())
    assert not any(whole.graph.initializer[2].raw_data)
    assert whole.graph.initializer[0] == model().graph.initializer[0]


def test_a_file_that_has_such_references_itself_is_refused(tmp_path: Path) -> None:
    proto = model()
    tensor = proto.graph.initializer[1]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="onnxpad.own", value="0 760")
    for opened in (open_model, open_lean_network):
        with pytest.raises(ModelError, match=r"its tensors refer to bytes of the file itself"):
            opened(written(tmp_path / "m.onnx", proto))


def test_a_file_that_another_takes_the_place_of_is_still_what_runs(tmp_path: Path) -> None:
    path = written(tmp_path / "m.onnx", model())
    network, feeds = open_lean_network(path), {"t0": np.ones((1, 190, 5, 5), np.float32)}
    right = Bench(Settings()).run(open_lean_network(path), feeds)
    written(tmp_path / "n.onnx", model(seed=1)).replace(path)
    found, other = (Bench(Settings()).run(n, feeds) for n in (network, open_lean_network(path)))
    assert not isinstance(right, RunFailure)
    assert not isinstance(found, RunFailure)
    assert not isinstance(other, RunFailure)
    np.testing.assert_array_equal(found["t2"], right["t2"])
    assert not np.array_equal(other["t2"], right["t2"])
