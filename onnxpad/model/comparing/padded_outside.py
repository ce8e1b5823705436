"""A model whose input is padded in front of it and whose outputs are cropped behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, helper, numpy_helper

from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import renamed
from onnxpad.padding.operators import Since, name_of_pads

Sides = Sequence[tuple[int, int]]
"""Cells at the begin and at the end of each axis."""


def padded_outside(
    network: Network, name: str, sides: Sides, mode: str, crops: Mapping[str, Sides]
) -> Network:
    """The model with a Pad of 0 or by `mode` behind the input `name`, and with cropped outputs.

    crops: what each output loses. Stated sizes of these tensors are forgotten.
    """
    inside = {name: f"{name}/padded"} | {output: f"{output}/whole" for output in crops}
    outside = {new: old for old, new in inside.items()}
    model = renamed(network, inside).model
    graph, opset = model.graph, network.opsets.get("", 1)
    del graph.value_info[:]
    for value in (*graph.input, *graph.output):
        if value.name in outside:
            value.name = outside[value.name]
            value.type.tensor_type.ClearField("shape")
    begins, ends = zip(*sides, strict=True)
    pads = {name_of_pads(opset): (*begins, *ends)}
    given = opset >= Since.PAD_INPUTS
    graph.node.insert(0, _node(graph, "Pad", name, inside[name], pads, given=given, mode=mode))
    for output, cells in crops.items():
        begins, ends = zip(*cells, strict=True)
        last = [-end or np.iinfo(np.int64).max for end in ends]
        cut = {"starts": begins, "ends": last, "axes": range(len(cells))}
        given = opset >= Since.SLICE_INPUTS
        graph.node.append(_node(graph, "Slice", inside[output], output, cut, given=given))
    return network.like(model)


def _node(
    graph: GraphProto,
    operator: str,
    source: str,
    result: str,
    numbers: Mapping[str, Sequence[int]],
    *,
    given: bool,
    **attributes: str,
) -> NodeProto:
    """A node; its numbers are inputs if they are `given`, else attributes."""
    if not given:
        written = {**numbers, **attributes}
        return helper.make_node(operator, [source], [result], **dict[str, Any](written))
    names = [f"{result}/{name}" for name in numbers]
    for name, values in zip(names, numbers.values(), strict=True):
        graph.initializer.append(numpy_helper.from_array(np.array(values, np.int64), name))
    return helper.make_node(operator, [source, *names], [result], **attributes)
