"""Plans as data, and what they do to one chain."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from onnxpad.errors import RequestError
from onnxpad.padding.chain import Chain, NewPad, Pads, Unclear
from onnxpad.padding.fills import Constant, TensorValue
from onnxpad.retargeting.candidates import candidates
from onnxpad.retargeting.plan import Plan, PlanEntry, settings_of, with_settings
from onnxpad.retargeting.windows_read import differs
from tests.retargeting.layers import layer

CHAINS = [
    layer("Conv", 32, 3, 2, (1, 1)),
    layer("Conv", 32, 3, 2, "SAME_UPPER"),
    layer("Conv", 32, 3, 2, front=(1, 1, "reflect", 0.0)),
    layer("MaxPool", 32, 3, 2, (1, 1), ceil_mode=True),
    layer("MaxPool", 32, 3, 2, front=(0, 1, "constant", float("-inf"))),
    layer("AveragePool", 32, 3, 2, (1, 1), counts_padding=True),
    layer("ConvTranspose", 32, 3, 2, (1, 1), output_padding=(1, 1)),
]


@pytest.mark.parametrize("chain", CHAINS)
def test_settings_say_everything(chain: Chain) -> None:
    settings = json.loads(json.dumps(settings_of(chain)))
    assert with_settings(chain, settings) == chain
    plain = layer(chain.op.name, 32, 3, 2)
    assert not differs(with_settings(plain, settings), chain)
    for one in candidates(chain):
        assert not differs(with_settings(chain, settings_of(one.chain)), one.chain), one.label


def test_what_is_left_out_stays() -> None:
    chain = CHAINS[3]
    assert with_settings(chain, {}) is chain
    assert with_settings(chain, {"ceil_mode": 0}) == layer("MaxPool", 32, 3, 2, (1, 1))
    moved = with_settings(chain, {"pads": [0, 0, 1, 1]})
    assert (moved.padding, moved.ceil_mode) == (Pads((0, 0), (1, 1)), True)


def test_a_pad_node_is_named_over_all_axes() -> None:
    chain = layer("MaxPool", 4, 2, 1)
    record = {"pads": [0, 0, 0, 0, 0, 0, 1, 1], "value": "-inf"}
    found = with_settings(chain, {"pad_node": record})
    assert found.pad == NewPad(Pads((0, 0, 0, 0), (0, 0, 1, 1)), Constant(float("-inf")))
    assert found.axes[0].size == 5
    assert with_settings(found, {"pad_node": record}) is found
    assert with_settings(found, {"pad_node": None}) == chain


def test_a_plan_is_what_its_json_says() -> None:
    plan = Plan((PlanEntry("a", {"auto_pad": "SAME_UPPER"}, ("tensorflow",)),))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    assert Plan.from_json({"nodes": []}) == Plan()


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ([], "the plan must be an object with a list"),
        ({}, "the plan must be an object with a list"),
        ({"nodes": {}}, "the plan must be an object with a list"),
        ({"nodes": [1]}, "entry 0 of the plan lacks 'node'"),
        ({"nodes": [{"pads": [0, 0]}]}, "entry 0 of the plan lacks 'node'"),
        ({"nodes": [{"node": "a", "pad": [0]}]}, "'pad'; it takes auto_pad, pads"),
        ({"nodes": [{"node": 5}]}, "entry 0 of the plan lacks 'node'"),
        ({"nodes": [], "node": "a"}, "has 'node'; it takes schema, nodes"),
        ({"nodes": [], "schema": "1"}, "schema '1', this version reads 1"),
        ({"plan": {"nodes": []}, "nodes": []}, "a report of diagnose"),
        ({"nodes": [{"node": "a"}, {"node": "a"}]}, "names node 'a' twice"),
        ({"nodes": [{"node": "a", "conventions": "x"}]}, "a list of names"),
        ({"nodes": [], "schema": 99}, "schema 99, this version reads 1"),
        (
            {"nodes": [{"node": "a", "auto_pad": "SAME_UPPER", "pads": [1, 1]}]},
            "auto_pad and pads: give one",
        ),
    ],
)
def test_what_is_no_plan_is_refused(record: object, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        Plan.from_json(record)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"pads": [1, 1]}, "pads is .*must be a list of 4 integers"),
        ({"pads": "1,1"}, "must be a list of 4 integers"),
        ({"pads": [1, 1, 1, True]}, "must be a list of 4 integers"),
        ({"pads": [0, 0, -1, 0]}, "no number may be below 0"),
        ({"auto_pad": "SAME"}, "auto_pad is 'SAME'"),
        ({"ceil_mode": 1}, "Conv has no ceil_mode"),
        ({"ceil_mode": "yes"}, "must be 0 or 1"),
        ({"count_include_pad": 1}, "Conv has no count_include_pad"),
        ({"output_padding": [1, 1]}, "Conv has no output_padding"),
        ({"ceil_mode": [1]}, "ceil_mode is .1., but must be 0 or 1"),
        ({"ceil_mode": 1.0}, "must be 0 or 1"),
        ({"pads": [1]}, "must be a list of 4 integers: the begin of each axis, then the end"),
        ({"pad_node": {}}, "pad_node pads is None, but must be a list of 8 integers"),
        ({"pad_node": {"pads": [0] * 8, "values": 1}}, "pad_node has 'values'; it takes pads"),
        ({"pads": list(range(10**5))}, "must be a list of 4 integers"),
        ({"pads": ["x"] * 10**5}, "pads is .'x'.*but must be a list of 4 integers"),
        ({"pad_node": [0, 1]}, "pad_node must be null, or an object"),
        ({"pad_node": {"pads": [1, 1]}}, "must be a list of 8 integers"),
        ({"pad_node": {"pads": [0] * 8, "mode": "zero"}}, "mode 'zero'"),
        ({"pad_node": {"pads": [0] * 8, "value": "low"}}, "value 'low'"),
        ({"auto_pad": ["VALID"]}, "auto_pad is .'VALID'., but must be NOTSET"),
        ({"pads": [99999999999, 0, 0, 0]}, "or above 1048576"),
        ({"pad_node": {"pads": [0] * 8, "value": float("nan")}}, "value nan: give a number"),
        ({"pad_node": {"pads": [0] * 8, "value": float("inf")}}, "value inf: give a number"),
        ({"pad_node": {"pads": [0] * 8, "value": 10**400}}, "give a number"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said) as caught:
        with_settings(CHAINS[0], settings)
    assert len(str(caught.value)) < 200


def test_a_mode_that_is_null_leaves_the_choice_to_pads() -> None:
    plan = Plan.from_json({"nodes": [{"node": "a", "auto_pad": None, "pads": [0, 1, 0, 1]}]})
    after = with_settings(CHAINS[0], plan.entries[0].settings)
    assert after.padding == Pads((0, 1), (0, 1))


@pytest.mark.parametrize("fill", [TensorValue("v"), Constant(float("inf"))])
def test_a_pad_node_with_a_value_that_no_plan_brings_stays(fill: TensorValue | Constant) -> None:
    chain = layer("Conv", 32, 3, 2, front=(1, 1, "constant", 0.0))
    assert chain.pad is not None
    chain = replace(chain, pad=replace(chain.pad, fill=fill))
    settings = json.loads(json.dumps(settings_of(chain)))
    assert with_settings(chain, settings) == chain


def test_messages_name_the_file() -> None:
    records: list[object] = [[], {"nodes": [1]}, {"nodes": [{"node": "a", "pad": 1}]}]
    for record in records:
        with pytest.raises(RequestError, match=r"the plan 'p\.json'"):
            Plan.from_json(record, file="p.json")


def test_padding_that_is_not_known_has_no_settings() -> None:
    chain = layer("Conv", 32, 3, 2)
    unknown = Chain(chain.op, 22, chain.axes, Unclear("computed"), chain.fill)
    with pytest.raises(RequestError, match="the padding is not known: computed"):
        settings_of(unknown)
