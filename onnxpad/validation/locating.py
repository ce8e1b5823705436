"""The first node behind which two models part, where no changed node explains it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import gap, same
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.report import FirstDifference
from onnxpad.validation.running import Pair, Ran

Array = NDArray[Any]


def first_apart(bench: Bench, pair: Pair, ran: Ran) -> tuple[FirstDifference, str]:
    """The first tensor, in the first model's order, whose bits differ, and a sentence on it.

    Where every tensor that both models have can be captured, they are compared one by one;
    otherwise those that the sample captured, and at last the outputs.
    """
    producers = pair.before.producers
    names = [name for name in producers if name in pair.after.producers]
    before = bench.run(pair.before, ran.feeds, names)
    after = bench.run(pair.after, ran.feeds, names)
    pairs: list[tuple[Results, Results]] = [(before, after), (ran.before, ran.after)]
    for one, other in pairs:
        if isinstance(one, RunFailure) or isinstance(other, RunFailure):
            continue
        both = sorted(one.keys() & other.keys(), key=lambda name: producers.get(name, -1))
        for name in both:
            if not _same_bits(one[name], other[name]):
                return _said(pair, name, one[name], other[name])
    name = pair.before.outputs[0]
    return FirstDifference(_label(pair, name), name, None, ""), "the outputs differ"


def _said(pair: Pair, name: str, one: Array, other: Array) -> tuple[FirstDifference, str]:
    label = _label(pair, name)
    if same(one, other):
        lowest = f"{label} gives the lowest float in one model and -inf in the other"
        why = f"{lowest} (a window of padding alone?), and nodes behind it tell them apart"
        return FirstDifference(label, name, float("inf"), ""), why
    found = gap(one, other)
    first = FirstDifference(label, name, found.max_abs, found.where)
    why = f"{label} -> '{name}' differs{first.amount()}, although it is the same in both models"
    return first, why


def _label(pair: Pair, name: str) -> str:
    index = pair.before.producers.get(name)
    return f"input '{name}'" if index is None else pair.before.operation(index).label


def _same_bits(one: Array, other: Array) -> bool:
    """Equal to the bit, except that NaN equals NaN; unlike `same`, -inf is not the lowest float."""
    if one.dtype == object or one.shape != other.shape or one.dtype != other.dtype:
        return same(one, other)
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
