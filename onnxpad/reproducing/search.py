"""The smallest specimen that falls under one row of a target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import Kind
from onnxpad.reproducing.specimens import (
    CONVOLUTIONS,
    INTEGER_OPERATORS,
    POOLS,
    QUANTISED,
    Specimen,
    drafted,
    weight_of,
)
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.judge import failing
from onnxpad.runtimes.targets import Target

Words = Mapping[str, Any]
Scored = tuple[tuple[float, int, float], Specimen]
_KEPT, _STEPS = 8, 4
BUILT = (*CONVOLUTIONS, *POOLS, "Pad")


def smallest(target: Target, row: Row, operator: str = "") -> Specimen | None:
    """The smallest specimen of which `target` fails by `row`, and by as few others as can be.

    Found by changing one word after the other: the nearest to what the row asks for go on. All
    operators of the row are looked at, or one of them.
    """
    found: list[Scored] = []
    for name in [operator] if operator else row.operators:
        if name in BUILT:
            found += _nearest(target, row, name)
            if any(score[:2] == (0, 0) for score, _ in found):
                break
    whole = [(score, one) for score, one in found if not score[0]]
    return min(whole, key=lambda pair: pair[0])[1] if whole else None


def _nearest(target: Target, row: Row, operator: str) -> list[Scored]:
    """Specimens of one operator, the nearest first."""
    start = Specimen(operator)
    seen: dict[Specimen, tuple[float, int, float]] = {}
    kept: list[Specimen] = [start]
    for _ in range(_STEPS):
        drawn = [one for parent in kept for one in varied(parent)]
        for one in dict.fromkeys([*kept, *drawn]):
            if one not in seen:
                seen[one] = _score(target, row, one)
        ranked = sorted(seen, key=lambda one: seen[one])
        if seen[ranked[0]][:2] == (0, 0):
            break
        kept = ranked[:_KEPT]
    return [(seen[one], one) for one in sorted(seen, key=lambda one: seen[one])[:1]]


def _score(target: Target, row: Row, one: Specimen) -> tuple[float, int, float]:
    """How many conditions do not hold, by how many other rows it fails, and its size."""
    chains = chains_of(one)
    about = [chain for chain in chains if chain.op.title == one.operator]
    if not about:
        return len(row.when) + 1.0, 0, 0.0
    unmet = min(sum(_distance(held) for held in holding(row, chain)) for chain in about)
    if unmet:
        return unmet, 0, weight_of(one)
    others = {other for chain in chains for other in failing(target, chain)} - {row}
    return 0, len(others), weight_of(one)


def holding(row: Row, chain: Chain) -> Iterator[bool | None]:
    """What each condition of the row answers."""
    return (condition.holds(chain) for condition in row.when)


def _distance(held: bool | None) -> float:  # noqa: FBT001 - an answer
    return 0.5 if held is None else float(not held)


@cache
def chains_of(one: Specimen) -> tuple[Chain, ...]:
    """The padded nodes of the specimen's model; none where its words contradict each other."""
    try:
        model, _ = drafted(one)
        survey = Survey(model)
    except (ArithmeticError, ValueError):
        return ()
    return tuple(chain for site in survey.sites_now() for chain in site.chains)


def falls_under(target: Target, row: Row, one: Specimen) -> bool:
    """Whether the target fails a node of its model by this row."""
    return any(row in failing(target, chain) for chain in chains_of(one))


def varied(one: Specimen) -> Iterator[Specimen]:
    """The specimen with each of its words changed, or a few that go together."""
    for words in moves(one):
        if any(getattr(one, name) != value for name, value in words.items()):
            yield one.varied(**words)


def moves(one: Specimen) -> Iterator[Words]:
    """What can be written otherwise in a model of this operator."""
    for name, choices in _choices(one):
        for value in choices:
            yield {name: value}
    if one.operator in POOLS:
        yield from _TOGETHER_IN_POOLS
    if one.operator in CONVOLUTIONS:
        yield from _TOGETHER_IN_CONVOLUTIONS
    yield from _TOGETHER if one.operator != "Pad" else _TOGETHER_IN_PADS


def _choices(one: Specimen) -> Iterator[tuple[str, Iterable[Any]]]:
    yield "rank", (1, 3)
    yield "opset", (7, 9, 10, 11, 12, 13, 18, 19, 20, 21, 22, 23, 24)
    yield "batch", (2,)
    yield "open", ("batch", "sizes")
    if one.operator == "Pad":
        yield from _CHOICES_OF_PADS
        return
    yield from _CHOICES_OF_WINDOWS
    if one.operator in POOLS:
        yield from _CHOICES_OF_POOLS
    if one.kind is Kind.MAX:
        yield from (("indices", (True,)), ("storage_order", (True,)))
    if one.operator in QUANTISED:
        yield from _CHOICES_OF_QUANTISED
    elif one.operator in CONVOLUTIONS:
        yield "weight", ("computed", "computed, one channel", "padded")
        yield "dtype", ("float64", "bfloat16")
    if one.operator in CONVOLUTIONS:
        yield from _CHOICES_OF_CONVOLUTIONS
    if one.kind is Kind.TRANSPOSED:
        yield from (("output_padding", (1, 2)), ("output_shape", ("odd", "even")))
    if one.operator in INTEGER_OPERATORS:
        yield "dtype", ("int8",)


_FRONTS = ("pad", "relu", "relu-pad 0", "relu-pad 1", "pad 1", "pad -inf", "pad reflect")
_CHOICES_OF_WINDOWS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("size", (6, 4, 2, 1)),
    ("kernel", (2, 1)),
    ("stride", (0, 2, 3)),
    ("dilation", (1, 2)),
    ("auto_pad", ("SAME_UPPER", "SAME_LOWER", "VALID")),
    ("pads", ((1, 1), (0, 1), (1, 0), (0, 2), (2, 2), (3, 3), (-1, 0), (0, 0), (-1, -1))),
    ("front", (*_FRONTS, "pad identity", "dequantised")),
)
_CHOICES_OF_CONVOLUTIONS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("group", ("each", "2", "two each")),
    ("bias", (True,)),
    ("kernel_written", (False,)),
)
_CHOICES_OF_QUANTISED: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("weight_dtype", ("int8",)),
    ("weight_zero", (3,)),
    ("scales", ("list", "each")),
)
_CHOICES_OF_POOLS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("ceil_mode", (True,)),
    ("count_include_pad", (True,)),
    ("dtype", ("int8", "uint8", "float64", "bfloat16")),
    ("front", ("quantised", "dequantised off-zero", "dequantised off-zero pad")),
    ("producer", ("pytorch",)),
)
_CHOICES_OF_PADS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("mode", ("reflect", "edge", "wrap")),
    ("mode_written", (False,)),
    ("value", (0, 1, float("-inf"))),
    ("pads", ((0, 1), (1, 0), (0, 0), (-1, 1), (-1, 0), (-1, -1), (7, 7))),
    ("padded", ("all", "apart", "channels", "batch", "last")),
    ("computed", (True,)),
    ("fed", (True,)),
    ("dtype", ("int8", "uint8", "float16", "bfloat16", "int16")),
    ("front", ("relu", "quantised", "window")),
)
_TOGETHER: tuple[Words, ...] = (
    {"auto_pad": "SAME_UPPER", "stride": 2},
    {"auto_pad": "SAME_LOWER", "stride": 2},
    {"auto_pad": "SAME_UPPER", "dilation": 2},
    {"dilation": 2, "uneven": True},
    {"dilation": 2, "stride": 2},
    {"auto_pad": "SAME_UPPER", "stride": 2, "kernel": 1},
    {"auto_pad": "SAME_UPPER", "stride": 3, "kernel": 1, "size": 6},
    {"auto_pad": "SAME_LOWER", "stride": 3, "kernel": 1, "size": 6},
    {"auto_pad": "SAME_UPPER", "stride": 4, "kernel": 1, "size": 8},
    {"auto_pad": "SAME_UPPER", "stride": 6, "kernel": 3, "size": 12},
    {"auto_pad": "SAME_UPPER", "pads": (1, 1)},
    {"front": "pad identity", "pads": (1, 1)},
    {"front": "pad", "pads": (2, 2)},
    {"pads": (2, 2), "kernel": 2},
    {"pads": (1, 1), "kernel": 1},
    {"size": 1, "pads": (0, 0)},
    {"size": 1, "pads": (0, 0), "stride": 3},
)
_TOGETHER_IN_PADS: tuple[Words, ...] = (
    {"axes": True, "opset": 18},
    {"mode": "reflect", "pads": (7, 7)},
    {"value": 1, "value_listed": True},
    {"front": "quantised", "dtype": "uint8"},
    {"front": "dequantised", "padded": "last", "value": 0.5},
    {"front": "dequantised off-zero", "padded": "batch", "value": 1},
    {"front": "dequantised off-zero", "padded": "last", "value": -1},
)
_TOGETHER_IN_CONVOLUTIONS: tuple[Words, ...] = (
    {"group": "each", "pads": (0, 2)},
    {"front": "pad", "pads": (0, 2)},
    {"group": "each", "pads": (1, 1), "kernel": 3},
    {"auto_pad": "SAME_LOWER", "kernel": 2},
    {"rank": 3, "group": "2", "dilation": 2},
    {"scales": "each", "bias": True},
)
_TOGETHER_IN_POOLS: tuple[Words, ...] = (
    {"auto_pad": "SAME_UPPER", "stride": 4, "kernel": 1, "dilation": 2, "size": 8},
    {"ceil_mode": True, "stride": 2, "size": 6},
    {"ceil_mode": True, "stride": 2, "pads": (1, 1), "size": 6},
    {"ceil_mode": True, "stride": 3, "kernel": 2, "pads": (1, 1)},
    {"ceil_mode": True, "stride": 3, "kernel": 2, "pads": (0, 2), "size": 4},
    {"ceil_mode": True, "stride": 2, "size": 6, "auto_pad": "VALID"},
    {"ceil_mode": True, "stride": 3, "kernel": 2, "front": "pad"},
    {"ceil_mode": True, "count_include_pad": True, "stride": 2, "size": 6, "pads": (1, 1)},
    {"front": "quantised", "dtype": "uint8"},
)
