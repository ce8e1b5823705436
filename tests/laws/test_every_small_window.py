"""Every pass on every small window of one axis, at open sizes and behind a Pad too."""

from collections.abc import Iterator
from itertools import islice, product

import pytest

from tests.random_models.checking import check
from tests.random_models.drawing_fronts import takes_pads
from tests.random_models.kinds import KINDS
from tests.random_models.spec import Spec, Step

WINDOWS = tuple(product(range(1, 6), range(1, 5), range(1, 4)))
OPSETS = (11, 12, 13, 15, 18, 21, 22, 25)
PADDINGS: tuple[str | tuple[int, int], ...] = (
    "none",
    "VALID",
    "SAME_UPPER",
    "SAME_LOWER",
    *((begin, end) for begin in range(5) for end in range(5)),
)
FREE = ("", "named", "%2=0", "%3=1", "", "2*h", "%4=3")
VALUES = ("fits", "zero", "other", "tensor")
OF_ONE_AXIS = [name for name, one in KINDS.items() if one.family not in ("pad", "deform")]


def windows(name: str) -> Iterator[Spec]:
    """Every window with every padding; all else takes turns."""
    kind = KINDS[name]
    paddings = PADDINGS if kind.auto_pad else PADDINGS[4:]
    for turn, ((kernel, stride, dilation), padding) in enumerate(product(WINDOWS, paddings)):
        least = max(kind.since, kind.dilated or 99) if dilation > 1 else kind.since
        allowed = [opset for opset in OPSETS if opset >= least]
        if not allowed:
            continue
        opset = allowed[turn % len(allowed)]
        value = VALUES[turn % (4 if kind.dtype != "float32" and not kind.is_pool else 3)]
        pad = Step("Pad", (turn % 4, turn // 4 % 3), value=value)
        pads = () if isinstance(padding, str) else padding
        span = (kernel - 1) * dilation + 1
        yield Spec(
            kind=name,
            opset=opset,
            spatial=(max(1, span - sum(pads)) + turn % 11,),
            kernel=(kernel,),
            strides=(stride,),
            dilations=(dilation,),
            padding=padding if isinstance(padding, str) else "pads",
            pads=pads,
            front=(pad,) if turn % 3 == 0 and takes_pads(kind, opset) else (),
            ceil=bool(kind.rounds and opset >= kind.rounds and turn % 5 < 2),
            counts=kind.family == "average" and turn % 2 == 0,
            output_padding=(turn % stride,) if name == "ConvTranspose" and turn % 7 == 0 else (),
            negative=kind.family == "max",
            free=(FREE[turn % len(FREE)],),
            seed=turn,
        )


@pytest.mark.parametrize(
    ("first", "every"),
    [(0, 150), pytest.param(1, 10, marks=pytest.mark.sweep)],
    ids=["drawn", "many"],
)
@pytest.mark.part(4)
@pytest.mark.parametrize("name", OF_ONE_AXIS)
def test_every_pass_on_small_windows(name: str, first: int, every: int) -> None:
    """Each operator has others of them."""
    begin = (first + 7 * OF_ONE_AXIS.index(name)) % every
    specs = list(islice(windows(name), begin, None, every))
    checked = [check(spec, 0) for spec in specs]
    failures = [failure for one in checked for failure in one.failures]
    assert not failures, str(failures[0])
    assert sum(one.judged and bool(one.applied) for one in checked) > len(checked) // 4
    for spec, one in zip(specs, checked, strict=True):
        if name == "Conv" and spec.padding.startswith("SAME") and not any(spec.free):
            assert ("explicit-pads",) in one.applied, spec
