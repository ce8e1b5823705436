"""Drawn specimens: the ways of padding, random ones, and neighbours of those that fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from onnxpad.padding.operators import Since
from onnxpad.reproducing.specimens import POOLS, QUANTISED, Specimen

_OPERATORS = {
    "Conv": 5,
    "ConvTranspose": 4,
    "MaxPool": 4,
    "AveragePool": 4,
    "LpPool": 2,
    "QLinearConv": 2,
    "ConvInteger": 1,
    "Pad": 4,
}
"""The operators that are drawn, and how often."""
Choices = Mapping[str, tuple[float, Sequence[Any]]]
"""By field of a specimen how likely it is written otherwise, and what it may then be."""
_ANY: Choices = {
    "rank": (0.3, (1, 3)),
    "opset": (0.25, (9, 10, 11, 13, 18, 19, 21)),
    "batch": (0.15, (2, 3)),
    "size": (0.7, (1, 2, 3, 4, 6, 7, 8, 9)),
    "open": (0.04, ("batch", "sizes")),
}
_PADS = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (0, 1), (1, 0), (1, 2), (2, 0), (0, 5))
_WINDOWS: Choices = {
    "kernel": (0.6, (1, 2, 4, 5, 7, 8)),
    "kernel_written": (0.0, (False,)),
    "stride": (0.5, (0, 2, 2, 3, 4)),
    "dilation": (0.3, (1, 2, 2, 3)),
    "uneven": (0.3, (True,)),
    "flat": (0.15, (True,)),
}
_POOLS: Choices = {
    "ceil_mode": (0.3, (True,)),
    "count_include_pad": (0.3, (True,)),
    "indices": (0.15, (True,)),
    "storage_order": (0.05, (True,)),
    "front": (0.2, ("pad", "pad 1", "pad -inf", "pad reflect", "pad edge", "relu", "relu-pad 0")),
}
_CONVOLUTIONS: Choices = {
    "kernel_written": (0.1, (False,)),
    "group": (0.3, ("each", "2", "two each")),
    "bias": (0.3, (True,)),
    "weight": (0.06, ("computed", "padded")),
    "front": (0.2, ("pad", "pad 1", "pad reflect", "pad edge", "dequantised", "relu")),
    "output_padding": (0.25, (1, 2)),
    "output_shape": (0.12, ("odd", "even")),
    "weight_dtype": (0.4, ("int8",)),
    "weight_zero": (0.3, (3,)),
    "scales": (0.3, ("each",)),
    "dtype": (0.3, ("int8",)),
}
_WRITTEN = {
    "MaxPool": "ceil_mode indices storage_order front",
    "AveragePool": "ceil_mode count_include_pad front",
    "LpPool": "ceil_mode front",
    "Conv": "kernel_written group bias weight front",
    "ConvTranspose": "kernel_written group bias weight front output_padding output_shape",
    "QLinearConv": "kernel_written group bias weight_dtype weight_zero scales dtype",
    "ConvInteger": "kernel_written group weight_dtype weight_zero dtype",
}
"""By operator the fields that its models write, besides windows."""
_PAD_NODES: Choices = {
    "mode": (0.55, ("reflect", "reflect", "edge", "edge", "wrap")),
    "mode_written": (0.2, (False,)),
    "value": (0.4, (0, 1, -2, float("-inf"))),
    "value_listed": (0.05, (True,)),
    "pads": (0.8, ((0, 1), (2, 0), (0, 0), (3, 3), (5, 5), (7, 7), (-1, -1), (-1, 1), (0, -1))),
    "padded": (0.35, ("all", "channels", "batch", "last", "apart")),
    "axes": (0.15, (True,)),
    "computed": (0.08, (True,)),
    "fed": (0.05, (True,)),
    "dtype": (0.15, ("int8", "uint8", "float16")),
    "front": (0.1, ("relu",)),
}
_AUTO_PAD, _OTHER_PADDING = 0.35, 0.4
"""How likely a node has auto_pad, and a neighbour is padded otherwise."""
_WITHIN_KERNEL = 0.8
"""How likely the pads of a pool are below its kernel: beyond that most frameworks refuse it."""
_HIGHER_RANKS = 3
_LARGEST_VOLUME = 6


def drawn(random: Random) -> Iterator[Specimen]:
    """Random specimens without end."""
    names = list(_OPERATORS)
    while True:
        (name,) = random.choices(names, list(_OPERATORS.values()))
        fields = _choices(name)
        words: dict[str, Any] = {
            field: random.choice(values)
            for field, (chance, values) in fields.items()
            if random.random() < chance
        }
        words |= _padding(Specimen(name).varied(**words), random)
        yield _fitting(Specimen(name).varied(**words))


def neighbours(
    specimens: Sequence[Specimen], groups: Sequence[Sequence[int]], random: Random
) -> Iterator[Specimen]:
    """Neighbours of specimens without end, as many of one group of places as of another."""
    while groups:
        for group in groups:
            yield _neighbour(specimens[random.choice(group)], random)


def _neighbour(one: Specimen, random: Random) -> Specimen:
    """The specimen with one or two of its fields drawn again."""
    fields = _choices(one.operator)
    names = random.sample(sorted(fields), random.choice((1, 1, 2)))
    words = {
        name: random.choice((getattr(Specimen(one.operator), name), *fields[name][1]))
        for name in names
    }
    if random.random() < _OTHER_PADDING:
        words = _padding(one, random) or words
    return _fitting(one.varied(**words))


def _choices(operator: str) -> Choices:
    """What can be written otherwise in a model of this operator."""
    if operator == "Pad":
        return {**_ANY, **_PAD_NODES}
    own = _POOLS if operator in POOLS else _CONVOLUTIONS
    names = _WRITTEN[operator].split()
    return {**_ANY, **_WINDOWS} | {name: own[name] for name in own if name in names}


def _padding(one: Specimen, random: Random) -> dict[str, Any]:
    """How a convolution or a pool pads: not at all, by pads, or by auto_pad."""
    if one.operator == "Pad":
        return {}
    if random.random() < _AUTO_PAD:
        auto_pad = random.choice(("SAME_UPPER", "SAME_UPPER", "SAME_LOWER", "VALID"))
        return {"auto_pad": auto_pad, "pads": None}
    fits = one.operator in POOLS and random.random() < _WITHIN_KERNEL
    pads = [sides for sides in _PADS if not fits or max(sides) < one.kernel]
    return {"auto_pad": "", "pads": random.choice((None, *pads))}


def _fitting(one: Specimen) -> Specimen:
    """The same without words that contradict each other."""
    words: dict[str, Any] = {"opset": max(one.opset, _needed_opset(one))}
    if one.rank >= _HIGHER_RANKS:
        words |= {"size": min(one.size, _LARGEST_VOLUME), "kernel": min(one.kernel, 4)}
    if one.output_padding >= max(one.stride, one.dilation, 1) or one.output_shape:
        words["output_padding"] = 0
    if one.output_shape:
        words |= {"pads": None, "auto_pad": one.auto_pad if one.auto_pad != "VALID" else ""}
    if one.rank == 1 and one.flat:
        words["flat"] = False
    if one.weight == "padded" and one.kernel < 2:
        words["weight"] = ""
    if one.computed or one.fed:
        words["axes"] = False
    if one.operator == "Pad" and one.dtype:
        words["front"] = ""  # Relu takes floats alone
    return one.varied(**words)


def _needed_opset(one: Specimen) -> int:
    needed = one.written_opset
    if one.mode == "wrap":
        needed = max(needed, Since.PAD_WRAP)
    if one.fed or one.computed or one.front.startswith(("pad", "relu-pad")) or one.dtype:
        needed = max(needed, 13)
    if one.operator in QUANTISED or one.front.startswith("dequantised"):
        needed = max(needed, 10)
    return needed
