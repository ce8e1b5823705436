"""How many channels a model takes, where its convolutions say it and its inputs do not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onnxpad.model.comparing.networks import Network, Operation

# Where the weight stands, and which of its axes, times the groups, is the number of channels read.
_WEIGHTS = {"Conv": (1, 1), "ConvInteger": (1, 1), "QLinearConv": (3, 1), "ConvTranspose": (1, 0)}
_KEEPING = {
    "Identity",
    "Cast",
    "Relu",
    "LeakyRelu",
    "Clip",
    "MaxPool",
    "AveragePool",
    "QuantizeLinear",
    "DequantizeLinear",
}
_BROADCASTING = {"Add", "Sub", "Mul", "Div"}
_FOLLOWED = _KEEPING | _BROADCASTING | set(_WEIGHTS) | {"Transpose", "Pad"}
_Order = tuple[int, ...]


def input_channels(network: Network) -> dict[str, tuple[int, int, int]]:
    """(axis, channels, rank) of each input that a convolution reads, and that has only one answer.

    Followed through what keeps channels and their number: activations, conversions, pools,
    scaling by one number, Transposes, Pads that leave channels alone. The rule of the weights:
    ONNX Operators, Conv and ConvTranspose.
    """
    readers: dict[str, list[Operation]] = {}
    for index, node in enumerate(network.nodes):
        if node.op_type not in _FOLLOWED:
            continue
        operation = network.operation(index)
        if not operation.domain:
            for name in dict.fromkeys(filter(None, operation.inputs)):
                readers.setdefault(name, []).append(operation)
    found = {}
    for name in network.fed:
        try:
            answers = set(_answers(network, readers, name))
        except (IndexError, TypeError, ValueError):  # what the operators cannot have
            continue
        if len(answers) == 1:
            found[name] = answers.pop()
    return found


def _answers(
    network: Network, readers: dict[str, list[Operation]], start: str
) -> Iterator[tuple[int, int, int]]:
    """What each convolution behind `start` says. `order` gives the input's axes, once turned."""
    waiting: list[tuple[str, _Order]] = [(start, ())]
    seen = set(waiting)
    while waiting:
        name, order = waiting.pop()
        for reader in readers.get(name, []):
            shape = _weight_shape(network, reader, name)
            if shape is not None and len(order) in (0, len(shape)):
                axis = order[1] if order else 1
                groups = (
                    1 if reader.op_type == "ConvTranspose" else reader.attributes.get("group", 1)
                )
                yield axis, shape[_WEIGHTS[reader.op_type][1]] * groups, len(shape)
            behind = _behind(network, reader, name, order)
            if behind is None or not reader.outputs:
                continue
            if (reader.outputs[0], behind) not in seen:
                seen.add((reader.outputs[0], behind))
                waiting.append((reader.outputs[0], behind))


def _weight_shape(network: Network, reader: Operation, name: str) -> tuple[int, ...] | None:
    if reader.op_type not in _WEIGHTS or reader.inputs[0] != name:
        return None
    position = _WEIGHTS[reader.op_type][0]
    weight = reader.inputs[position] if len(reader.inputs) > position else ""
    if weight in network.producers:
        source = network.operation(network.producers[weight])
        if source.op_type != "DequantizeLinear":
            return None
        weight = source.inputs[0]
    tensor = network.initializers.get(weight)
    return None if tensor is None or len(tensor.dims) < 3 else tuple(tensor.dims)


def _behind(network: Network, reader: Operation, name: str, order: _Order) -> _Order | None:
    """The order of axes behind `reader`; None where the number of channels may change there."""
    kind = reader.op_type
    if kind == "Transpose":
        turned = tuple(reader.attributes.get("perm", ()))
        if order and len(turned) == len(order):
            return tuple(order[axis] for axis in turned)
        return None if order else turned or None
    if kind in _KEEPING and reader.inputs[0] == name:
        return order
    if kind in _BROADCASTING and len(reader.inputs) == 2:
        others = [one for one in reader.inputs if one != name]
        tensor = network.initializers.get(others[0]) if others else None
        return order if tensor is not None and np.prod(tensor.dims) == 1 else None
    if kind == "Pad" and reader.inputs[0] == name and not order:
        return order if _leaves_channels(network, reader) else None
    return None


def _leaves_channels(network: Network, reader: Operation) -> bool:
    if len(reader.inputs) > 3 and reader.inputs[3]:
        return False
    pads = reader.attributes.get("pads")
    if pads is None and len(reader.inputs) > 1:
        array = network.constant(reader.inputs[1])
        pads = None if array is None else array.reshape(-1).tolist()
    if not pads or len(pads) % 2 or len(pads) < 6:
        return False
    return not (pads[1] or pads[len(pads) // 2 + 1])
