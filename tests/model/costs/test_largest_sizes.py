"""The largest sizes are no smaller than those that onnxruntime gives, of all smaller inputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from onnxpad.model.comparing.networks import Network, open_network
from onnxpad.model.costs.largest_sizes import Largest
from onnxpad.model.costs.rule_facts import NoBoundError
from onnxpad.model.costs.running_cost import RunningCosts, is_small
from onnxpad.model.graph.types import Type
from onnxpad.sessions import RunFailure, Settings
from onnxpad.validation.bench import Bench
from tests.models import runaway
from tests.models.runaway import LEAST, made_of, node, value

MODELS = Path(__file__).resolve().parents[3] / "models"
Shape = tuple[int, ...]


def largest(graph: GraphProto, **given: Shape) -> dict[str, Shape]:
    """The largest sizes of what the main graph's nodes write."""
    return {
        name: dims
        for facts, wrote, _ in Largest(graph, given, None).made()
        for name, dims in zip(facts.node.output, wrote, strict=True)
    }


def compare(model: ModelProto, most: Mapping[str, Shape], *shapes: Mapping[str, Shape]) -> None:
    """Hold the bounds of a model against runs at each of these shapes of its inputs."""
    network = Network(model)
    bounds = largest(network.model.graph, **most)
    names = [name for name in network.producers if name]
    random = np.random.default_rng(0)
    for given in (most, *shapes):
        types = network.input_types()
        feeds = {n: random.random(shape).astype(types[n].dtype) for n, shape in given.items()}
        result = Bench(Settings()).run(network, feeds, names)
        assert not isinstance(result, RunFailure), result
        for name in names:
            shape = result[name].shape
            assert len(shape) == len(bounds[name]), name
            assert all(own <= top for own, top in zip(shape, bounds[name], strict=True)), name


# One has no bound here; of the other onnxruntime 1.31.1 refuses a Conv.
LEFT_OUT = {"t_avgpool_both_ts_op11_qoperator", "t_same_string_ts"}
PATHS = [path for path in sorted(MODELS.glob("*.onnx")) if path.stem not in LEFT_OUT]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_real_models(path: Path) -> None:
    network = open_network(path)
    shapes = [
        {
            name: tuple(
                size if isinstance(size, int) else (2 if most > 60 else 1) if not axis else most
                for axis, size in enumerate(found.dims or ())
            )
            for name, found in network.input_types().items()
        }
        for most in (64, 48, 32)
    ]
    compare(network.model, *shapes)


IMAGE = [value("x", ["N", 3, "H", "W"])]
WEIGHTS = {"w": np.ones((4, 3, 3, 3), np.float32), "t": np.ones((3, 2, 3, 2), np.float32)}
NUMBERS = {
    "zero": [0], "one": [1], "two": [2], "three": [3], "last": [-1], "far": [2**62],
    "pads": [0, 0, 1, 2, 0, 0, 3, 0], "row": [0, -1], "tiles": [2, 3, 5, 7], "negative": [-3],
    "far_below": [-9], "farther": [-99],
    "scale": np.array([1, 1, 0.7, 2.5], np.float32), "ends": [1, 2], "axes": [2, 3],
}  # fmt: skip


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Conv", ["x", "w"], ["y"], strides=[2, 3], pads=[1, 0, 2, 1])],
        [node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER", strides=[2, 2])],
        [node("Conv", ["x", "w"], ["y"], dilations=[2, 1], auto_pad="VALID")],
        [node("ConvTranspose", ["x", "t"], ["y"], strides=[2, 3], output_padding=[1, 2])],
        [node("ConvTranspose", ["x", "t"], ["y"], strides=[2, 3], pads=[1, 1, 0, 0])],
        [node("ConvTranspose", ["x", "t"], ["y"], strides=[2, 2], auto_pad="SAME_LOWER")],
        [node("MaxPool", ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1)],
        [node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], pads=[1, 1, 1, 1])],
        [node("GlobalMaxPool", ["x"], ["y"])],
        [node("Transpose", ["x"], ["a"], perm=[0, 1, 3, 2]), node("MatMul", ["x", "a"], ["y"])],
        [node("Flatten", ["x"], ["a"]), node("Gemm", ["a", "a"], ["y"], transB=1)],
        [node("Reshape", ["x", "row"], ["y"])],
        [node("Flatten", ["x"], ["y"], axis=-1)],
        [node("Concat", ["x", "x"], ["y"], axis=-2),
         node("Split", ["y"], ["a", "b"], axis=2, num_outputs=2)],
        [node("ReduceMean", ["x", "axes"], ["y"], keepdims=0)],
        [node("ReduceSum", ["x"], ["y"])],
        [node("Resize", ["x", "", "scale"], ["y"])],
        [node("Pad", ["x", "pads"], ["y"])],
        [node("Slice", ["x", "one", "far", "two"], ["y"])],
        [node("Slice", ["x", "one", "last", "three"], ["y"])],
        [node("Slice", ["x", "negative", "last", "three"], ["y"])],
        [node("Slice", ["x", "negative", "far", "three"], ["y"])],
        [node("Slice", ["x", "negative", "two", "three"], ["y"])],
        [node("Slice", ["x", "last", "zero", "three", "last"], ["y"])],
        [node("Gather", ["x", "ends"], ["y"], axis=1)],
        [node("Unsqueeze", ["x", "last"], ["a"]), node("Squeeze", ["a", "last"], ["y"])],
        [node("DepthToSpace", ["c"], ["y"], blocksize=2)],
        [node("SpaceToDepth", ["c"], ["y"], blocksize=2)],
        [node("Shape", ["x"], ["s"]), node("ConstantOfShape", ["s"], ["y"])],
        [node("Shape", ["x"], ["s"], start=1), node("Expand", ["one", "s"], ["y"])],
        [node("Shape", ["x"], ["s"]), node("Mul", ["s", "two"], ["t2"]),
         node("Sub", ["t2", "s"], ["d"]), node("Div", ["d", "two"], ["h"]),
         node("Max", ["h", "one"], ["k"]), node("ConstantOfShape", ["k"], ["y"])],
        [node("Shape", ["x"], ["s"]), node("Gather", ["s", "axes"], ["g"]),
         node("Neg", ["g"], ["n"]), node("Add", ["n", "tiles2"], ["k"]),
         node("Cast", ["k"], ["k32"], to=6), node("Min", ["k32", "forty"], ["l"]),
         node("Cast", ["l"], ["l64"], to=7), node("ConstantOfShape", ["l64"], ["y"])],
        [node("Shape", ["x"], ["s"]),
         node("Split", ["s"], ["a", "b", "c2", "d"], axis=0, num_outputs=4),
         node("Concat", ["d", "last", "a"], ["k"], axis=0), node("Reshape", ["x", "k"], ["y"])],
        [node("Shape", ["x"], ["s"]), node("Slice", ["s", "last", "negative", "zero", "last"],
                                           ["k"]), node("ConstantOfShape", ["k"], ["y"])],
        # Backwards a start in front of the first cell means the first cell.
        [node("Slice", ["tiles", "far_below", "farther", "zero", "last"], ["k"]),
         node("ConstantOfShape", ["k"], ["z"]), node("Shape", ["x"], ["y"])],
    ],
    ids=lambda nodes: "-".join(one.op_type for one in nodes),
)  # fmt: skip
def test_operators(nodes: list[NodeProto]) -> None:
    inputs = list(IMAGE)
    most, *others = ({"x": (2, 3, size, size + 3)} for size in (12, 11, 8, 5))
    if "c" in nodes[0].input:
        inputs = [value("c", ["N", 4, "H", "W"])]
        most, *others = ({"c": (2, 4, size, size + 2)} for size in (12, 8, 4))
    more = {"tiles2": [40, 50], "forty": np.array([40], np.int32)}
    read = {name for one in nodes for name in one.input}
    held = {name: one for name, one in (WEIGHTS | NUMBERS | more).items() if name in read}
    compare(made_of(nodes, inputs, held), most, *others)


def test_numbers_that_are_known_only_within_bounds_give_a_bound() -> None:
    """What 40 less a size gives is largest where the size is smallest."""
    nodes = [node("Shape", ["x"], ["s"]), node("Sub", ["forty", "s"], ["d"]),
             node("ConstantOfShape", ["d"], ["y"])]  # fmt: skip
    model = made_of(nodes, [value("x", ["W"])], {"forty": [40]})
    assert largest(model.graph, x=(30,))["y"] == (40,)
    compare(model, {"x": (30,)}, {"x": (2,)})


def test_an_input_without_cells_says_nothing_of_the_others_of_a_concat() -> None:
    nodes = [
        node("Slice", ["x", "a", "b", "axis"], ["e"]),
        node("Concat", ["z", "e"], ["y"], axis=1),
    ]
    inputs = [value("x", [1, "A", "B"]), value("z", [1, "C", "D"]),
              value("a", [1], TensorProto.INT64), value("b", [1], TensorProto.INT64)]  # fmt: skip
    model = made_of(nodes, inputs, {"axis": [1]})
    found = largest(model.graph, x=(1, 4, 5), z=(1, 4, 500), a=(1,), b=(1,))
    assert found["y"] == (1, 8, 500)
    summed = [
        *nodes[:1],
        node("Sum", ["x", "x", "e"], ["s"]),
        node("Concat", ["z", "s"], ["y"], axis=1),
    ]
    model = made_of(summed, inputs, {"axis": [1]})
    assert largest(model.graph, x=(1, 4, 5), z=(1, 4, 500), a=(1,), b=(1,))["y"] == (1, 8, 500)
    joined = made_of([node("Concat", ["z", "x"], ["y"], axis=1)], inputs[:2])
    assert largest(joined.graph, x=(1, 4, 5), z=(1, 4, 500))["y"] == (1, 8, 5)


X = [value("x", [4])]


@pytest.mark.parametrize(
    "model",
    [
        # As bool, 2^30 is 1: what is left of 2^30 is not 0, as inference has it, but all the same.
        made_of([node("Cast", ["n"], ["b"], to=9), node("Cast", ["b"], ["i"], to=7),
                 node("Sub", ["n", "i"], ["d"]), node("ConstantOfShape", ["d"], ["y"])],
                X, {"n": [2**30]}),
        # int32 wraps.
        made_of([node("Add", ["n", "n"], ["d"]), node("Cast", ["d"], ["e"], to=7),
                 node("Add", ["e", "m"], ["f"]), node("ConstantOfShape", ["f"], ["y"])],
                X, {"n": np.array([2**30], np.int32), "m": [-(2**31) + 5]}),
        # int64 wraps.
        made_of([node("Add", ["n", "n"], ["d"]), node("ConstantOfShape", ["d"], ["y"])],
                X, {"n": [2**62]}),
        made_of([node("Concat", ["x", "x"], ["x1"], axis=0), *(
            node("Concat", [f"x{n}", f"x{n}"], [f"x{n + 1}"], axis=0) for n in range(1, 20)
        )], X, outputs=["x20"]),
        made_of([node("ConstantOfShape", ["x"], ["y"])], [value("x", [1], TensorProto.INT64)]),
        made_of([node("Slice", ["x", "a", "b", "z", "s"], ["y"])],
                X, {"a": [0], "b": [4], "z": [0], "s": [LEAST]}),
        made_of([node("Conv", ["x", "w"], ["y"])], [value("x", [1, 1, 4])],
                {"w": np.ones((1, 1, 9), np.float32)}),
        made_of([node("Reshape", ["x", "s"], ["y"])], X, {"s": [-2, 4]}),
        made_of([node("Cast", ["x"], ["y"], to=TensorProto.STRING)], X),
        made_of([node("Relu", ["nowhere"], ["y"])], X),
        made_of([node("Relu", ["x"], ["y"], domain="far")], X),
        made_of([node("NonZero", ["x"], ["y"])], X),
        runaway.endless_loop(),
    ],
)  # fmt: skip
def test_what_has_no_bound(model: ModelProto) -> None:
    given = {one.name: tuple(dim.dim_value for dim in one.type.tensor_type.shape.dim)
             for one in model.graph.input}  # fmt: skip
    with pytest.raises(NoBoundError):
        largest(model.graph, **given)


@pytest.mark.parametrize("count", [3, 100])
def test_what_a_caller_gives_takes_the_place_of_an_initializer(count: int) -> None:
    """A shape in the file says nothing where the caller may give another one."""
    target = value("s", [1], TensorProto.INT64)
    model = made_of(
        [node("ConstantOfShape", ["s"], ["y"])], [value("x", [1]), target], {"s": [count]}
    )
    assert largest(model.graph, x=(1,))["y"] == (count,)
    with pytest.raises(NoBoundError):
        largest(model.graph, x=(1,), s=(1,))


def test_both_branches_are_looked_at() -> None:
    branches = {
        name: helper.make_graph(
            [node("Concat", ["x"] * count, ["z"], axis=0)], "b", [], [value("z", ["A"])]
        )
        for name, count in (("then_branch", 2), ("else_branch", 5))
    }
    inputs = [value("x", ["A"]), value("c", [], TensorProto.BOOL)]
    model = made_of([node("If", ["c"], ["y"], **branches)], inputs)
    assert largest(model.graph, x=(7,), c=())["y"] == (35,)


def test_what_grows_with_every_node_is_not_small() -> None:
    nodes = [node("Resize", [f"x{n}", "", "scale"], [f"x{n + 1}"]) for n in range(12)]
    model = made_of(nodes, [value("x0", [1, 1, 8])], {"scale": np.array([1, 1, 9.5], np.float32)},
                    outputs=["x12"])  # fmt: skip
    cost = RunningCosts(model).bound({"x0": Type("float32", (1, 1, 8))})
    assert not is_small(cost)
