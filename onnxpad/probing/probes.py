"""Models of one padded node, with the inputs that tell right from wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.geometry.size import Symbol
from onnxpad.model.excerpt import READ, Excerpt, in_floats, standing_alone
from onnxpad.model.opened import Model
from onnxpad.model.small_models import pruned
from onnxpad.padding.chain import Chain

Array = NDArray[Any]
Feeds = dict[str, Array]
SIGNS = (0, -1, 1)
"""Of each input three draws: any number, none above 0 (padding with 0 shows in a max), none below
0 (padding that is counted shows in an average)."""
MOST_RESTS = 8
_APART = 0.05
_NUMBERS = ("int64", "int32", "bool")


class Probe(NamedTuple):
    """A model and its inputs, of which every one is run; `judged` are the outputs compared."""

    model: Model
    feeds: tuple[Feeds, ...]
    judged: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Equal for probes of which a runtime makes the same."""
        content = hashlib.sha256(self.model.SerializeToString(deterministic=True))
        content.update(repr(self.judged).encode())
        for name, array in (pair for fed in self.feeds for pair in fed.items()):
            content.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
        return content.hexdigest()


def alone(part: Excerpt, *, bare: bool = False) -> Excerpt:
    """The excerpt without what no pass reads of it: readers of its Pad, and what feeds the node.

    Of that the furthest Pad or conversion in front stays, and what stands between; of a `bare` one
    only what stands behind the nearest Pad.
    """
    focus = part.model.graph.node[part.focus]
    begin = _beginning(part, bare=bare)
    given = [begin] if begin else []
    if not (part.readers or given):
        return part
    outputs = {value.name for value in part.model.graph.output}
    behind = {focus.output[0]} if part.readers else set(outputs_behind(part))
    kept = pruned(part.model, behind, given)
    for name in behind - outputs:
        kept.graph.output.add().name = name
    place = next(i for i, node in enumerate(kept.graph.node) if node.name == focus.name)
    return replace(part, model=kept, focus=place, readers=(), fronts=())


def _beginning(part: Excerpt, *, bare: bool = False) -> str:
    """The tensor in front of which no pass reads, where a node makes it; else ''."""
    nodes = part.model.graph.node
    makers = {name: node for node in nodes for name in node.output}
    begin = tensor = next(iter(nodes[part.focus].input), "")
    while (maker := makers.get(tensor)) is not None and maker.input:
        if bare and maker.op_type == "Pad":
            begin = tensor
            break
        tensor = maker.input[0]
        begin = tensor if maker.op_type in READ else begin
    return begin if begin in makers and begin in part.types else ""


def without_front(written: Excerpt, part: Excerpt) -> Excerpt:
    """What passes made of `part`, without the nodes in front of the padding that they left alone.

    All of it where they changed or need one of these.
    """
    begin = _beginning(part)
    if not begin:
        return written
    outputs = [value.name for value in written.model.graph.output]
    kept = pruned(written.model, outputs, [begin])
    left_alone = [node for node in written.model.graph.node if node not in kept.graph.node]
    as_before = all(node in part.model.graph.node for node in left_alone)
    return replace(written, model=kept) if as_before else written


def rests(chain: Chain) -> int:
    """How many sizes stand for all that the model leaves open: one for each rest by the strides."""
    periods = [
        axis.stride // gcd(axis.stride, axis.size.modulus if isinstance(axis.size, Symbol) else 1)
        for axis in chain.axes
        if not isinstance(axis.size, int)
    ]
    return min(lcm(*periods), MOST_RESTS)


def probe(part: Excerpt, sizes: int, judged: Sequence[str], *, for_people: bool = False) -> Probe:
    """A model of the excerpt and inputs of `sizes` sizes, three draws of each.

    Only `judged` outputs are there. Raises RequestError where an input has no known type or is too
    large, and where one holds numbers, such as pads. `for_people` these are 0, and weights stay,
    which else are drawn.
    """
    kept = replace(part, model=pruned(part.model, judged))
    feeds: list[Feeds] = []
    for grown in range(sizes):
        draw = partial(_drawn, seed=0, sign=0)
        model, fed = standing_alone(kept, draw, grown=grown, keeps_weights=for_people)
        numbers = {name: value for name, value in fed.items() if str(value.dtype) in _NUMBERS}
        if numbers and not for_people:
            raise RequestError("it reads numbers from an input, which are not known")
        feeds += [
            {
                name: _drawn(value.shape, str(value.dtype), seed=place, sign=sign)
                for place, (name, value) in enumerate(fed.items())
            }
            | numbers
            for sign in SIGNS
        ]
    model, feeds, renamed = in_floats(model, part.types, feeds)
    return Probe(model, tuple(feeds), tuple(renamed.get(name, name) for name in judged))


def outputs_behind(part: Excerpt) -> tuple[str, ...]:
    """The outputs that the focus of an excerpt computes, or that hang on what it computes."""
    reached: set[str] = set()
    for index, node in enumerate(part.model.graph.node):
        if index == part.focus or reached.intersection(node.input):
            reached.update(name for name in node.output if name)
    outputs = [value.name for value in part.model.graph.output]
    return tuple(name for name in outputs if name in reached)


def outputs_without(part: Excerpt, nodes: Collection[str]) -> tuple[str, ...]:
    """The outputs that hang on none of the nodes of these names."""
    spoiled: set[str] = set()
    for node in part.model.graph.node:
        if node.name in nodes or spoiled.intersection(node.input):
            spoiled.update(node.output)
    outputs = [value.name for value in part.model.graph.output]
    return tuple(name for name in outputs if name not in spoiled)


def _drawn(shape: tuple[int, ...], dtype: str, *, seed: int, sign: int) -> Array:
    """Numbers of one sign (0: of both), the same for the same arguments."""
    random = np.random.default_rng([seed, sign + 1, *shape])
    kind = np.dtype(dtype)  # onnx has told numpy of bfloat16
    if kind.kind in "iu":
        info = np.iinfo(kind)
        middle = (int(info.min) + int(info.max) + 1) // 2
        least = middle if sign > 0 else int(info.min)
        most = middle if sign < 0 else int(info.max)
        return random.integers(least, most, shape, endpoint=True).astype(kind)
    values = random.standard_normal(shape, np.float32)
    if sign:
        values = sign * (np.abs(values) + np.float32(_APART))
    return values.astype(kind)


_QUANTISED = ("QLinear", "QuantizeLinear", "DynamicQuantize")


def quantises(model: Model) -> bool:
    """Whether numbers of the model are rounded to steps, which runtimes do in other places."""
    return any(node.op_type.startswith(_QUANTISED) for node in model.graph.node)


def ranks(model: Model) -> Mapping[str, int]:
    """The outputs in their order with their declared ranks, -1 where there is none."""
    types = {value.name: value.type.tensor_type for value in model.graph.output}
    return {
        name: len(kind.shape.dim) if kind.HasField("shape") else -1 for name, kind in types.items()
    }
