"""Every small window of one axis: SAME at open sizes, and averages counted or not."""

from collections.abc import Iterator
from itertools import product

import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.random_models.building import build
from tests.random_models.checking import failure
from tests.random_models.kinds import KINDS, Kind
from tests.random_models.spec import Spec

WINDOWS = tuple(product(range(1, 5), range(1, 4), range(1, 4)))
OPSETS = (11, 12, 13, 15, 18, 21, 22, 25)
SIDES = tuple((begin, end) for begin in range(4) for end in range(4))
Paddings = tuple[str | tuple[int, int], ...]
NONE = ("transposed", "pad")
LEFT_ALONE = [name for name, one in KINDS.items() if one.channels_last or name == "FusedConv"]
WITH_SAME = [name for name, one in KINDS.items() if one.auto_pad and one.family not in NONE]


def opsets(kind: Kind, dilation: int) -> list[int]:
    """Opsets in which the operator has what the window needs; a dilation of 0 is for none."""
    dilated = kind.dilated or 99
    return [one for one in OPSETS if one >= max(kind.since, dilated if dilation > 1 else 1)]


def windows(name: str, paddings: Paddings, size: str) -> Iterator[Spec]:
    """One axis; opsets, rounding and counting take turns."""
    kind, turn = KINDS[name], 0
    for (kernel, stride, dilation), padding in product(WINDOWS, paddings):
        allowed = opsets(kind, dilation)
        if not allowed:
            continue
        turn += 1
        opset = allowed[turn % len(allowed)]
        named = isinstance(padding, str)
        yield Spec(
            kind=name,
            opset=opset,
            spatial=(1 + turn % 9,),
            kernel=(kernel,),
            strides=(stride,),
            dilations=(dilation,),
            padding=padding if isinstance(padding, str) else "pads",
            pads=() if isinstance(padding, str) else padding,
            counts=kind.family == "average" and turn % 2 == 0,
            ceil=bool(kind.rounds and opset >= kind.rounds and turn % 3 == 0),
            negative=kind.family == "max",
            free=(size,) if named else ("",),
            seed=turn,
        )


def changed(spec: Spec, rule: str) -> bool:
    """Whether the pass rewrites the model; the judge of random models has nothing against it."""
    wrong = failure(spec, (rule,))
    assert wrong is None, f"{wrong}\n{spec}"
    return rewrite(build(spec).model, passes=[rule]).changed


@pytest.mark.part(4)
@pytest.mark.parametrize("name", sorted(set(WITH_SAME) - set(LEFT_ALONE)))
def test_same_at_every_size(name: str) -> None:
    rewritten = [
        changed(spec, "runtime-pads")
        for spec in windows(name, ("SAME_UPPER", "SAME_LOWER"), "named")
    ]
    assert sum(rewritten) >= 5


@pytest.mark.sweep
@pytest.mark.parametrize("rule", ["counted-padding", "uncounted-padding"])
def test_every_average(rule: str) -> None:
    paddings: Paddings = ("SAME_UPPER", "SAME_LOWER", "VALID", *SIDES)
    assert sum(changed(spec, rule) for spec in windows("AveragePool", paddings, "")) > 50
