"""Small models drawn at random, or one after the other."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.random import Generator

from tests.laws.small_models import Array, Case
from tests.laws.small_operators import OPERATORS, POOLS
from tests.oracle.windows import resolve_same

FRONTS = ("none", "fits", "zero", "other", "tensor")
PADDINGS = ("pads", "pads of SAME", "none", "VALID", "SAME_UPPER", "SAME_LOWER")


def draw(rng: Generator, kind: str, front: str, padding: str, rank: int) -> Case:
    """A case with small random geometry that is legal in its opset; a window may not fit."""
    op, opset = OPERATORS[kind].op, int(rng.choice(OPERATORS[kind].opsets))
    if opset < 11 and front != "none" and op in {"ConvInteger", "QLinearConv"}:
        opset = 11
    kernel = rng.integers(1, 6 if rank < 3 else 4, rank)
    dilations = rng.integers(1, 4, rank)
    since = {"AveragePool": 19, "LpPool": 18, "QLinearAveragePool": 99}.get(op, 1)
    if rng.integers(2) or opset < since:
        dilations = np.ones_like(kernel)
    rounds = op in POOLS and not (op == "LpPool" and opset < 18)
    case = Case(
        kind=kind,
        spatial=tuple(rng.integers(1, 13 if rank < 3 else 7, rank).tolist()),
        kernel=tuple(kernel.tolist()),
        strides=tuple(rng.integers(1, 5, rank).tolist()),
        dilations=tuple(dilations.tolist()),
        padding=padding,
        pads=tuple(rng.integers(0, 5, 2 * rank).tolist()),
        front=front,
        around=_around(rng, rank, crops=op != "ConvTranspose"),
        ceil=bool(rounds and rng.integers(2)),
        counts=bool(op.endswith("AveragePool") and rng.integers(2)),
        indices=bool(op == "MaxPool" and rng.integers(4) == 0),
        open_sizes=bool(rng.integers(4) == 0),
        opset=opset,
        seed=int(rng.integers(1 << 30)),
    )
    if op == "Pad":
        return _of_a_pad(rng, case)
    if padding == "pads of SAME":
        case = replace(case, padding="pads", pads=_pads_of_same(case, lower=bool(rng.integers(2))))
    return _with_output(rng, case) if op == "ConvTranspose" else case


def _around(rng: Generator, rank: int, *, crops: bool) -> tuple[int, ...]:
    """Pads of the Pad in front: a third of them pads nothing, some crop a cell."""
    if rng.integers(3) == 0:
        return (0,) * (2 * rank)
    least = -1 if crops and rng.integers(4) == 0 else 0
    return tuple(rng.integers(least, 5, 2 * rank).tolist())


def _of_a_pad(rng: Generator, case: Case) -> Case:
    """Every mode, some with negative pads; what reflects more than there is cannot run."""
    modes = ["constant", "reflect", "edge"] + ["wrap"] * (case.opset >= 19)
    pads = np.asarray(case.pads) - rng.integers(0, 3) * rng.integers(0, 2, len(case.pads))
    return replace(case, mode=str(rng.choice(modes)), pads=tuple(pads.tolist()), padding="pads")


def _padded(case: Case) -> Array:
    """Sizes behind the Pad."""
    around = case.around if case.front != "none" else (0,) * len(case.around)
    sizes: Array = np.asarray(case.spatial) + np.asarray(around).reshape(2, -1).sum(axis=0)
    return sizes


def _pads_of_same(case: Case, *, lower: bool) -> tuple[int, ...]:
    sides = zip(_padded(case), case.kernel, case.strides, case.dilations, strict=True)
    begins, ends = zip(*(resolve_same(int(h), k, s, d, lower) for h, k, s, d in sides), strict=True)
    return (*begins, *ends)


def _with_output(rng: Generator, case: Case) -> Case:
    """Some have output_padding, some output_shape, from two cells less up to all that is allowed.

    Pads leave at least one cell.
    """
    strides, span = np.asarray(case.strides), np.asarray(case.dilations) * case.kernel
    full = (_padded(case) - 1) * strides + span - case.dilations + 1
    extra = rng.integers(0, strides) * rng.integers(2)
    if case.padding == "pads":
        halves = np.asarray(case.pads).reshape(2, -1)
        case = replace(case, pads=tuple(np.minimum(halves, (full - 1) // 2).ravel().tolist()))
    wanted = full + rng.integers(-2, strides) if rng.integers(3) == 0 else []
    return replace(
        case,
        output_padding=tuple(map(int, extra)) if extra.any() else (),
        output_shape=tuple(map(int, wanted)) if all(size > 0 for size in wanted) else (),
    )


def strata() -> list[tuple[str, str, str]]:
    """Every operator with everything in front and every way to write its padding."""
    return list(product(OPERATORS, FRONTS, PADDINGS))


def sweep() -> Iterator[Case]:
    """Every one-axis geometry with every operator, without a Pad and behind one that is drawn."""
    rng = np.random.default_rng(0)
    geometry = product(range(1, 6), range(1, 5), range(1, 4), range(1, 13))
    paddings = [("pads", (b, e)) for b in range(5) for e in range(5)]
    paddings += [(mode, (0, 0)) for mode in ("VALID", "SAME_UPPER", "SAME_LOWER")]
    for (kernel, stride, dilation, size), (mode, pads) in product(geometry, paddings):
        for kind, front in product(OPERATORS, ("none", str(rng.choice(FRONTS[1:])))):
            place = replace(draw(rng, kind, front, mode, 1), spatial=(size,), pads=pads)
            late = place.opset >= 19 or not place.op.endswith(("AveragePool", "LpPool"))
            dilated = (dilation,) if late else (1,)
            found = replace(place, kernel=(kernel,), strides=(stride,), dilations=dilated)
            yield _with_output(rng, found) if found.op == "ConvTranspose" else found
