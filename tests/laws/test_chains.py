"""Laws of all passes on chains: what a rewrite may do to the windows of an operator."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice, product

import pytest

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import AutoPad, Chain, NewPad, Skip
from onnxpad.padding.effective_pads import output_sizes
from onnxpad.padding.forms import Form, forms_of
from onnxpad.rewriting.passes import Pass, all_passes
from tests.laws.small_chains import (
    CORE,
    FLAVOURS,
    OTHER_FILLS,
    PADDINGS,
    admitted,
    in_front,
    padded,
    transposed,
    unknown_sizes,
    unpadded,
    windows,
)
from tests.laws.window_contents import input_size, source_size, window_contents

EXHAUSTIVE = os.environ.get("ONNXPAD_EXHAUSTIVE") == "1"
PASSES = list(all_passes().values())
each_flavour = pytest.mark.parametrize("flavour", FLAVOURS)
drawn_or_all = pytest.mark.parametrize(
    "share", [47, pytest.param(1, marks=pytest.mark.sweep)], ids=["drawn", "all"]
)
"""One chain in 47, another one for each flavour, so that together they have most; or all."""


def unlawful(rule: Pass, before: Chain, after: Chain, sizes: Iterable[int]) -> Iterator[str]:
    """What is wrong with a rewritten chain; a size that is not known may be any of `sizes`."""
    forms = forms_of(after)
    if forms & rule.removes:
        yield f"{sorted(forms & rule.removes)} are still there"
    if not forms <= rule.adds and (more := forms - rule.adds - forms_of(before)):
        yield f"{sorted(more)} are added and not declared"
    if isinstance(rule.rewrite(after), Chain):
        yield "a second run changes it again"
    if isinstance(before.axes[0].size, int) and output_sizes(before) != output_sizes(after):
        yield f"output sizes are {output_sizes(after)}"
    if not isinstance(after.pad, NewPad | None) and after.pad != before.pad:
        yield "the Pad that is there is not that of the model"
    # A new Pad comes behind the one that was there, which is then out of sight.
    behind = isinstance(after.pad, NewPad)
    reference = replace(before, pad=None) if behind else before
    for size in sizes:
        yield from other_windows(reference, after, size)


def other_windows(before: Chain, after: Chain, size: int) -> Iterator[str]:
    try:
        wanted = window_contents(before, size)
    except ValueError:
        if isinstance(before.axes[0].size, int):
            yield "no window fits, and yet it is rewritten"
        return
    found = window_contents(after, input_size(after, source_size(before, size)))
    if found != wanted:
        yield f"with size {size} the windows hold {found} instead of {wanted}"


def assert_lawful(rule: Pass, chain: Chain, sizes: Iterable[int] | None = None) -> bool:
    """Whether the pass rewrote the chain, which must obey the laws."""
    after = rule.rewrite(chain)
    if isinstance(after, Skip):
        assert after.moot or after.reason.strip(), f"{rule.name}: no reason\n{chain}"
        return False
    if not isinstance(after, Chain):
        return True  # several operators: test_laws runs them
    if sizes is None:
        sizes = [size for size in (axis.size for axis in chain.axes) if isinstance(size, int)]
        assert sizes
    wrong = list(unlawful(rule, chain, after, sizes))
    assert not wrong, f"{rule.name}: {wrong}\n{chain}\n{after}"
    return True


def assert_all_lawful(chains: Iterable[Chain]) -> None:
    """Every pass on every chain; some pass rewrites some chain."""
    rewritten = 0
    for chain in chains:
        for rule in PASSES:
            rewritten += assert_lawful(rule, chain)
    assert rewritten


def sampled(chains: Iterable[Chain], every: int, first: int = 0) -> Iterable[Chain]:
    return chains if EXHAUSTIVE else islice(chains, first % every, None, every)


def turn(flavour: str) -> int:
    return list(FLAVOURS).index(flavour)


@pytest.mark.part(8)
@drawn_or_all
@each_flavour
def test_without_a_pad(flavour: str, share: int) -> None:
    """The flavours beside the core differ in their fill, and one in nine is enough."""
    every = share if flavour in CORE else max(9, 5 * share)
    assert_all_lawful(sampled(unpadded(FLAVOURS[flavour]), every, turn(flavour)))


@drawn_or_all
def test_transposed(share: int) -> None:
    assert_all_lawful(sampled(transposed(), 3 * share))


@pytest.mark.part(14)
@drawn_or_all
@pytest.mark.parametrize("flavour", CORE)
def test_behind_a_pad(flavour: str, share: int) -> None:
    every = 1 if EXHAUSTIVE else 19 * share
    assert_all_lawful(padded(CORE[flavour], every, turn=19 * turn(flavour)))


@pytest.mark.part(2)
@drawn_or_all
@each_flavour
def test_behind_a_pad_of_another_value(flavour: str, share: int) -> None:
    every = 1 if EXHAUSTIVE else 97 * min(share, 7)
    assert_all_lawful(padded(FLAVOURS[flavour], every, OTHER_FILLS, turn(flavour)))


@pytest.mark.part(2)
@drawn_or_all
@each_flavour
@pytest.mark.parametrize("front", [False, True], ids=["alone", "behind-a-pad"])
def test_unknown_sizes(flavour: str, front: bool, share: int) -> None:
    """One in 181, another one for each flavour; all takes one in 61."""
    every = 61 if share == 1 else 181
    pad = in_front(1, 2, FLAVOURS[flavour].fits) if front else None
    drawn = product(windows(), unknown_sizes(), PADDINGS)
    for (kernel, stride, dilation), size, padding in islice(
        drawn, 0 if EXHAUSTIVE else 11 * turn(flavour) % every, None, 1 if EXHAUSTIVE else every
    ):
        chain = FLAVOURS[flavour].chain(Axis(size, kernel, stride, dilation), padding, pad)
        possible = [n for n in admitted(size, 24) if not front or n > 3]
        for rule in PASSES:
            assert_lawful(rule, chain, possible)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "matches"),
    [
        ("explicit-pads", lambda chain: isinstance(chain.padding, AutoPad)),
        ("split-pads", lambda chain: Form.PADS in forms_of(chain)),
        ("absorb-pad", lambda chain: chain.pad is not None),
    ],
    ids=["explicit-pads", "split-pads", "absorb-pad"],
)
def test_convolutions_are_never_refused(name: str, matches: Callable[[Chain], bool]) -> None:
    drawn = [*unpadded(CORE["Conv"]), *padded(CORE["Conv"], 25)][::11]
    for chain in filter(matches, drawn):
        verdict = all_passes()[name].rewrite(chain)
        size = chain.axes[0].size
        assert isinstance(size, int)
        fits = not list(other_windows(chain, chain, size))
        assert isinstance(verdict, Chain) is fits, f"{verdict}\n{chain}"
