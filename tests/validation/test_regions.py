import numpy as np
from onnx import helper

from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.regions import regions
from tests.validation.builders import B1, W1, W2, model, node, two_convs

PADS = [1, 1, 1, 1]


def test_equal_models_have_no_regions() -> None:
    assert regions(Network(two_convs(pads=PADS)), Network(two_convs(pads=PADS))) == []


def test_a_changed_attribute_is_a_region_of_one_node() -> None:
    (region,) = regions(Network(two_convs(pads=PADS)), Network(two_convs(auto_pad="VALID")))
    assert (region.before, region.after) == ((0,), (0,))
    assert (region.inputs, region.outputs) == (("x",), ("c",))


def test_an_inserted_pad_belongs_to_its_consumer() -> None:
    padded = two_convs(before=[node("Pad", ["x", "pads"], ["xp"], name="pad")])
    (region,) = regions(Network(two_convs(pads=PADS)), Network(padded))
    assert (region.before, region.after) == ((0,), (0, 1))


def test_weights_are_compared_by_content_under_one_name() -> None:
    (region,) = regions(Network(two_convs()), Network(two_convs(w=W1 + 1)))
    assert region.before == (0,)


def test_a_constant_node_and_an_initializer_are_the_same() -> None:
    constant = node("Constant", [], ["B"], value=helper.make_tensor("", 1, [8], B1.tolist()))
    conv = node("Conv", ["x", "W", "B"], ["y"], name="c")
    first = model([constant, conv], {"W": W1})
    assert regions(Network(first), Network(model([conv], {"W": W1, "B": B1}))) == []


def test_parts_far_from_each_other_are_two_regions() -> None:
    def chain(first: list[int], last: list[int]) -> Network:
        nodes = [
            node("Conv", ["x", "W"], ["c"], name="c1", pads=first),
            node("Relu", ["c"], ["r"]),
            node("Conv", ["r", "W2"], ["y"], name="c2", pads=last),
        ]
        return Network(model(nodes, {"W": W1, "W2": W2}))

    found = regions(chain(PADS, PADS), chain([0] * 4, [0] * 4))
    assert [region.outputs for region in found] == [("c",), ("y",)]


def test_names_that_bodies_read_count_as_inputs() -> None:
    def branch(pads: list[int]) -> Network:
        conv = node("Conv", ["x", "W"], ["t"], pads=pads)
        value = helper.make_tensor_value_info("t", 1, None)
        body = helper.make_graph([conv], "b", [], [value])
        chosen = node("If", ["yes"], ["y"], then_branch=body, else_branch=body)
        return Network(model([chosen], {"W": W1, "yes": np.array(True)}))

    (region,) = regions(branch(PADS), branch([0] * 4))
    assert region.inputs == ("x",)


def test_functions_are_compared_node_by_node() -> None:
    def called(pads: list[int]) -> Network:
        body = [node("Conv", ["a", "w"], ["t"], pads=pads), node("Relu", ["t"], ["b"])]
        function = helper.make_function(
            "local", "Block", ["a", "w"], ["b"], body, [helper.make_opsetid("", 17)]
        )
        proto = model([node("Block", ["x", "W"], ["y"], domain="local")], {"W": W1})
        proto.functions.append(function)
        proto.opset_import.append(helper.make_opsetid("local", 1))
        return Network(proto)

    (region,) = regions(called(PADS), called([0] * 4))
    assert region.before == (0,)
    assert called(PADS).nodes[0].op_type == "Conv"


def test_another_opset_matters_only_where_the_operator_changed() -> None:
    old, new = two_convs(pads=PADS), two_convs(pads=PADS)
    new.opset_import[0].version = 21
    assert regions(Network(old), Network(new)) == []
    new.opset_import[0].version = 22
    assert [region.outputs for region in regions(Network(old), Network(new))] == [("c",), ("y",)]
