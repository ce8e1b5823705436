"""Plans as data: what they may say, what they do to a node, and what is refused with a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from onnx import ModelProto

from onnxpad import Plan, PlanEntry, RequestError, retarget
from tests.models.text import text_model
from tests.retargeting.running import outputs, signed

NODES = {
    "conv": ("Conv <kernel_shape = [3, 3], pads = [2, 2, 2, 2], dilations = [2, 2]> (x, w)", "4,3"),
    "wide": ("Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)", "4,3"),
    "up": (
        "ConvTranspose <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)",
        "3,4",
    ),
    "pool": ("MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)", ""),
    "mean": ("AveragePool <kernel_shape = [3, 3], pads = [3, 3, 3, 3]> (x)", ""),
}


def model(name: str, opset: int = 17, kind: str = "float") -> ModelProto:
    node, channels = NODES[name]
    weight = f", {kind}[{channels},3,3] w" if channels else ""
    return text_model(f"[{name}] y = {node}", f"{kind}[1,3,32,32] x{weight}", opset=opset)


def planned(name: str, settings: dict[str, Any], opset: int = 17, kind: str = "float") -> Any:
    return retarget(model(name, opset, kind), plan={"nodes": [{"node": name, **settings}]})


def front(*pads: int, **more: Any) -> dict[str, Any]:
    """A Pad node with these begins and ends over the last two axes, and no other padding."""
    if len(pads) == 4:
        pads = (0, 0, *pads[:2], 0, 0, *pads[2:])
    return {"pads": [0] * 4, "pad_node": {"pads": list(pads), **more}}


def test_a_plan_is_what_its_json_says() -> None:
    plan = Plan((PlanEntry("a", {"auto_pad": "SAME_UPPER"}, ("tensorflow",)),))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    assert Plan.from_json({"nodes": []}) == Plan()


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ([], "the plan 'p.json' must be an object with a list"),
        ({"nodes": {}}, "must be an object with a list"),
        ({"nodes": [1]}, "entry 0 of the plan 'p.json' lacks 'node'"),
        ({"nodes": [{"node": 5}]}, "lacks 'node'"),
        ({"nodes": [{"node": "a", "pad": [0]}]}, "'pad'; it takes auto_pad, pads"),
        ({"nodes": [], "node": "a"}, "has 'node'; it takes schema, nodes"),
        ({"plan": {"nodes": []}, "nodes": []}, "has 'plan'; it takes schema, nodes"),
        ({"nodes": [], "schema": "1"}, "schema '1', this version reads 1"),
        ({"nodes": [{"node": "a"}, {"node": "a"}]}, "names node 'a' twice"),
        ({"nodes": [{"node": "a", "conventions": "x"}]}, "a list of names"),
        (
            {"nodes": [{"node": "a", "auto_pad": "SAME_UPPER", "pads": [1, 1]}]},
            "auto_pad and pads: give one",
        ),
    ],
)
def test_what_is_no_plan_is_refused(record: object, reason: str) -> None:
    with pytest.raises(RequestError) as caught:
        Plan.from_json(record, file="p.json")
    assert reason in str(caught.value)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("wide", {"pads": [1, 1]}, "pads is [1, 1], but must be a list of 4 integers"),
    ("wide", {"pads": [1, 1, 1, True]}, "must be a list of 4 integers"),
    ("wide", {"pads": [0, 0, -1, 0]}, "integers from 0 to 1048576: the begin of each axis, then"),
    ("wide", {"pads": list(range(10**5))}, "must be a list of 4 integers"),
    ("wide", {"auto_pad": "SAME"}, "auto_pad is 'SAME', but must be NOTSET, VALID"),
    ("wide", {"ceil_mode": 1}, "Conv of opset 17 has no ceil_mode"),
    ("wide", {"ceil_mode": 1.0}, "must be 0 or 1"),
    ("wide", {"count_include_pad": 1}, "has no count_include_pad"),
    ("wide", {"output_padding": [1, 1]}, "Conv has no output_padding"),
    ("wide", {"pad_node": {}}, "pads is None, but must be a list of 8 integers"),
    ("wide", {"pad_node": {"pads": [0] * 8, "values": 1}}, "pad_node has 'values'; it takes pads"),
    ("wide", {"pad_node": {"pads": [0] * 8, "mode": "zero"}}, "mode 'zero'"),
    ("wide", {"pad_node": {"pads": [0] * 8, "value": "low"}}, "value 'low'"),
    ("wide", {"pad_node": {"pads": [0] * 8, "value": float("nan")}}, "value nan: give a number"),
    ("wide", {"pad_node": {"pads": [0] * 8, "value": 10**400}}, "give a number"),
    ("wide", front(0, 1, 1, 1, 0, 0, 1, 1), "pads batch or channels otherwise than the model"),
    ("wide", front(32, 0, 0, 0, mode="reflect"), "reflects 32 of 32 cells"),
    ("wide", front(-20, 0, -20, 0), "the padding leaves nothing of its input: -8x32 cells"),
    ("wide", front(-15, 0, -15, 0), "of its output: 0x30 cells"),
    ("wide", front(1, 1, 1, 1, mode="wrap"), "opset 17 has no mode wrap"),
    ("wide", front(1, 1, 1, 1, value=1e39), "1e+39, which float32 does not hold"),
    ("pool", {"pads": [3, 0, 0, 0]}, "as large as the kernel"),
    ("conv", {"auto_pad": "SAME_UPPER"}, "and a dilation is above 1"),
    ("up", {"output_padding": [0, 2]}, "output_padding 2 is not below the stride"),
    ("up", {"pads": [40] * 4}, "of its output: -15x-15 cells"),
]


@pytest.mark.parametrize(("name", "settings", "reason"), REFUSED, ids=lambda one: str(one)[:40])
def test_what_does_not_fit_or_would_not_run_is_refused(
    name: str, settings: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RequestError) as caught:
        planned(name, settings)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(f"the plan, node '{name}' ({NODES[name][0].split()[0]}): ")
    assert "\n  try     correct the entry" in str(caught.value)
    assert len(str(caught.value)) < 350


TAKEN: list[tuple[str, dict[str, Any], int]] = [
    ("wide", front(31, 0, 0, 0, mode="reflect"), 17),
    ("wide", front(-20, 0, -9, 0), 17),
    ("wide", front(1, 1, 1, 1, mode="wrap"), 19),
    ("wide", front(1, 1, 1, 1, value=3e38), 17),
    ("wide", {"auto_pad": None, "pads": [0, 1, 0, 1]}, 17),
    ("pool", {"pads": [2, 0, 0, 0]}, 17),
    ("pool", front(1, 1, 1, 1, value="-inf"), 17),
    ("up", {"output_padding": [0, 1]}, 17),
    ("up", {"pads": [30, 30, 30, 30]}, 17),
]


@pytest.mark.parametrize(("name", "settings", "opset"), TAKEN, ids=lambda one: str(one)[:40])
def test_what_is_just_taken_runs(name: str, settings: dict[str, Any], opset: int) -> None:
    found = planned(name, settings, opset)
    assert found.changed
    feeds = {one.name: signed(0, *shape_of(one)) for one in found.model.graph.input}
    assert outputs(found.model, feeds)[0].size


def shape_of(value: Any) -> list[int]:
    return [size.dim_value for size in value.type.tensor_type.shape.dim]


def test_what_the_model_has_already_is_no_reason() -> None:
    """Pads as large as the kernel, which onnxruntime refuses: the entry asks for another thing."""
    assert planned("mean", {"count_include_pad": 1}).changed


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("uint8", 255, True),
        ("uint8", 256, False),
        ("uint8", 0.5, False),
        ("int8", -128, True),
        ("int8", "-inf", False),
        ("float16", 65504, True),
        ("float16", 65505, False),
        ("float16", "-inf", True),
    ],
)
def test_a_value_is_one_of_the_element_type(kind: str, value: float | str, fits: bool) -> None:
    settings = front(1, 1, 1, 1, value=value)
    if fits:
        assert planned("pool", settings, kind=kind).changed
    else:
        with pytest.raises(RequestError, match="does not hold"):
            planned("pool", settings, kind=kind)
