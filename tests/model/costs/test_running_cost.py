"""What a run costs at most, and when nothing is known of it."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, helper

from onnxpad.model.comparing.networks import open_network
from onnxpad.model.costs.running_cost import (
    RunningCost,
    RunningCosts,
    is_small,
    largest_cost,
    running_cost,
    types_of,
)
from onnxpad.model.graph.types import Type
from onnxpad.processes import limited
from tests.models import runaway
from tests.models.runaway import made_of, node, value
from tests.validation.builders import two_convs

MODELS = Path(__file__).resolve().parents[3] / "models"
X = {"x": Type("float32", (1, 3, 9, 8))}
# Nothing here knows a size behind a QLinearConcat; onnxruntime runs it in a child.
IN_A_CHILD = {"t_avgpool_both_ts_op11_qoperator"}


def cost(model: ModelProto, **shapes: tuple[int, ...]) -> RunningCost | None:
    return running_cost(model, {name: Type("float32", shape) for name, shape in shapes.items()})


def test_cells_and_steps_of_convolutions() -> None:
    found = running_cost(two_convs(), X)
    assert found is not None
    assert found.cells > 0
    assert found.steps > found.cells
    assert is_small(found)
    larger = running_cost(two_convs(), {"x": Type("float32", (1, 3, 90, 80))})
    assert larger is not None
    assert 50 < larger.steps / found.steps < 300


def test_memory_is_what_lives_at_once() -> None:
    nodes = [node("Relu", [f"t{n}"], [f"t{n + 1}"]) for n in range(10)]
    found = cost(made_of(nodes, [value("t0", [1000])], outputs=["t10"]), t0=(1000,))
    assert found == RunningCost(10_000, 2 * 4000, found.steps if found else 0)


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_real_models_are_bounded(path: Path) -> None:
    network = open_network(path)
    feeds = {
        name: np.zeros(
            [size if isinstance(size, int) else 64 for size in found.dims or ()], found.dtype
        )
        for name, found in network.input_types().items()
    }
    found = running_cost(network.model, types_of(feeds))
    assert is_small(found) == (path.stem not in IN_A_CHILD)


def test_limits_below_what_may_run_here_lead_to_a_child() -> None:
    found = RunningCost(10**6, 100 * 2**20, 10**9)
    assert is_small(found)
    for seconds, memory, small in ((1, "2G", True), (None, "900M", False), (0.05, None, False)):
        with limited(seconds, memory):
            assert is_small(found) == small


def test_what_is_not_bounded() -> None:
    assert cost(runaway.endless_loop(), x=(1,)) is None
    big = cost(runaway.four_gigabytes(), x=(1,))
    assert big is None or not is_small(big)
    computed = made_of(
        [node("ConstantOfShape", ["s"], ["y"])], [value("s", [1], TensorProto.INT64)]
    )
    assert running_cost(computed, {"s": Type("int64", (1,))}) is None
    assert running_cost(computed, {"s": Type("object", (1,))}) is None
    assert cost(runaway.nested_functions(3), x=(2, 3)) is None
    odd = made_of(
        [node("OneHot", ["x", "d", "v"], ["y"])], [value("x", [1])], {"d": 3, "v": [0, 1]}
    )
    assert cost(odd, x=(1,)) is None
    foreign = made_of([node("Anything", ["x"], ["y"], domain="far")], [value("x", [1])])
    assert cost(foreign, x=(1,)) is None


def test_what_the_file_declares_of_results_does_not_count() -> None:
    model = made_of(
        [node("ConstantOfShape", ["s"], ["t"]), node("Relu", ["t"], ["y"])],
        [value("s", [1], TensorProto.INT64)],
    )
    model.graph.value_info.append(value("t", [1]))
    model.graph.output[0].CopyFrom(value("y", [1]))
    assert running_cost(model, {"s": Type("int64", (1,))}) is None


def test_both_branches_count() -> None:
    branches = {
        name: helper.make_graph(
            [node("Conv", ["x", "w"], ["z"])], name, [], [value("z", [1, 4, 6, 6])]
        )
        for name in ("then_branch", "else_branch")
    }
    weights = np.ones((4, 3, 3, 3), np.float32)
    inputs = [value("x", [1, 3, 8, 8]), value("c", [], TensorProto.BOOL)]
    model = made_of([node("If", ["c"], ["y"], **branches)], inputs, {"w": weights})
    found = running_cost(model, {"x": Type("float32", (1, 3, 8, 8)), "c": Type("bool", ())})
    assert found is not None
    assert found.steps >= 2 * 4 * 6 * 6 * 27


def looks_at(name: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The shapes of an input whose largest sizes are looked for from now on."""
    seen: list[tuple[object, ...]] = []

    def counted(graph: GraphProto, inputs: Mapping[str, Type]) -> RunningCost | None:
        seen.append(tuple(inputs[name].dims or ()))
        return largest_cost(graph, inputs)

    monkeypatch.setattr("onnxpad.model.costs.running_cost.largest_cost", counted)
    return seen


def test_one_look_at_larger_inputs_tells_of_many_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    network = open_network(MODELS / "k_unet_dyn_op13.onnx")
    costs = RunningCosts(network.model)
    looks = looks_at("input", monkeypatch)
    shapes = ((1, 33, 35, 3), (1, 65, 67, 3), (2, 128, 128, 3), (2, 33, 34, 3), (1, 99, 7, 3))
    bounds = [costs.bound({"input": Type("float32", shape)}) for shape in shapes]
    assert looks == [(2, 128, 128, 3)]
    for shape, bound in zip(shapes, bounds, strict=True):
        exact = running_cost(network.model, {"input": Type("float32", shape)})
        assert bound is not None
        assert exact is not None
        assert all(most >= own for most, own in zip(bound, exact, strict=True))
        assert is_small(bound)


def test_inputs_without_cells_have_a_look_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime asks nothing of the sizes of empty tensors: what holds of others may not hold."""
    costs = RunningCosts(made_of([node("Relu", ["x"], ["y"])], [value("x", ["A", "B"])]))
    looks = looks_at("x", monkeypatch)
    for shape in ((2, 9), (2, 5), (2, 0)):
        assert costs.bound({"x": Type("float32", shape)}) is not None
    assert looks == [(2, 128), (2, 2)]


def test_large_inputs_are_looked_at_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = RunningCosts(open_network(MODELS / "k_unet_dyn_op13.onnx").model)
    looks = looks_at("input", monkeypatch)
    for width in (900, 800):
        costs.bound({"input": Type("float32", (1, width, width, 3))})
    assert {shape[1] for shape in looks} == {900, 800}


def test_what_the_look_does_not_know_is_read() -> None:
    foreign = made_of([node("QLinearSigmoid", ["x"], ["y"], domain="com.microsoft")], [])
    gelu = made_of([node("Gelu", ["x"], ["y"], domain="com.microsoft")], [value("x", [1, 9])])
    gelu.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    given = {"x": Type("float32", (1, 9))}
    for model in (foreign, gelu):
        assert RunningCosts(model).bound(given) == running_cost(model, given)
    assert running_cost(gelu, given) is not None


def test_equal_models_share_one_look_and_others_do_not() -> None:
    one, same, other = two_convs(), two_convs(), two_convs()
    other.graph.node[0].attribute.add(name="auto_pad", type=AttributeProto.STRING, s=b"VALID")
    assert RunningCosts(one).hold_for(same)
    assert not RunningCosts(one).hold_for(other)


def test_nodes_of_bodies_count_as_nodes() -> None:
    """A look at thousands takes longer than the start of a child, wherever they stand."""
    given = {"x": Type("float32", (1,)), "c": Type("bool", ())}
    for count in (900, 2_100):
        relus = [node("Relu", ["x"], [f"z{n}"]) for n in range(count)]
        bodies = {
            name: helper.make_graph(
                relus[: 3 + count * (name[0] == "t")], "b", [], [value("z0", [1])]
            )
            for name in ("then_branch", "else_branch")
        }
        inputs = [value("x", [1]), value("c", [], TensorProto.BOOL)]
        model = made_of([node("If", ["c"], ["y"], **bodies)], inputs)
        assert (RunningCosts(model).bound(given) is None) == (count > 2_000)
