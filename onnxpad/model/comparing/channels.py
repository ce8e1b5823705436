"""How many channels a model takes, where its convolutions say it and its inputs do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnxpad.errors import OnnxpadError
from onnxpad.geometry.size import Size, Symbol
from onnxpad.model.comparing.networks import Network
from onnxpad.model.graph.types import Type
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import Kind

Channels = tuple[int, int, int]
_LEAST = 3
"""Axes of the weight of a convolution: its channels and what it reads at least one of."""


def input_channels(network: Network) -> dict[str, Channels]:
    """(axis, channels, rank) of each input that a convolution reads, and that has only one answer.

    Each axis of an input gets a name, which reaches the convolution through whatever keeps its
    size. An input without a shape is taken to have as many axes as some weight.
    """
    stated = network.input_types()
    is_open = any(found.dims is None for found in stated.values())
    ranks = {len(one.dims) for one in network.initializers.values() if len(one.dims) >= _LEAST}
    answers: dict[str, set[Channels]] = {}
    for rank in sorted(ranks) if is_open else [0]:
        types, places = dict[str, Type](), dict[Size | None, tuple[str, int, int]]()
        for name, found in stated.items():
            count = rank if found.dims is None else len(found.dims)
            sizes = tuple(Symbol(f"{name}[{axis}]") for axis in range(count))
            types[name] = Type(found.dtype, sizes)
            places |= {size: (name, axis, count) for axis, size in enumerate(sizes)}
        for size, channels in _read(network, types):
            if size in places:
                name, axis, count = places[size]
                answers.setdefault(name, set()).add((axis, channels, count))
    return {name: found.pop() for name, found in answers.items() if len(found) == 1}


def _read(network: Network, types: Mapping[str, Type]) -> Iterator[tuple[Size | None, int]]:
    """The size that each convolution reads as its channels, and how many it reads."""
    try:
        sites = Survey(network.model, folder=network.folder, types=types).sites_now()
    except OnnxpadError:  # no model that can be meant
        return
    for chain in (chain for site in sites for chain in site.chains):
        count = _channels(chain)
        if count is not None and chain.shape and chain.first_axis > 1:
            yield chain.shape[1], count


def _channels(chain: Chain) -> int | None:
    """How many channels a convolution reads (ONNX Operators, Conv and ConvTranspose)."""
    weight, group = chain.weight.shape, chain.attribute("group", 1)
    if not weight or len(weight) < _LEAST or not isinstance(group, int):
        return None
    transposed = chain.op.kind is Kind.TRANSPOSED
    read = weight[0] if transposed else weight[1]
    return None if not isinstance(read, int) else read if transposed else read * group
