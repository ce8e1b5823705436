"""Laws of all passes on chains: what a rewrite may do to the windows of an operator."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice, product

import pytest

from onnxpad.chain import AutoPad, Chain, Skip
from onnxpad.effective import output_sizes
from onnxpad.expansion import Expansion
from onnxpad.forms import Form, forms_of
from onnxpad.geometry.axis import Axis
from onnxpad.passes import Pass, all_passes
from tests.passes.small_chains import (
    CORE,
    FLAVOURS,
    OTHER_FILLS,
    PADDINGS,
    admitted,
    in_front,
    lone_pads,
    padded,
    transposed,
    unknown_sizes,
    unpadded,
    windows,
)
from tests.passes.window_contents import input_size, source_size, window_contents

EXHAUSTIVE = os.environ.get("ONNXPAD_EXHAUSTIVE") == "1"
PASSES = list(all_passes().values())
each_pass = pytest.mark.parametrize("rule", PASSES, ids=lambda rule: rule.name)
each_flavour = pytest.mark.parametrize("flavour", FLAVOURS)


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
    if after.pad is not None and not after.pad.is_new and after.pad != before.pad:
        yield "the Pad that is there is not that of the model"
    # A new Pad comes behind the one that was there, which is then out of sight.
    behind = after.pad is not None and after.pad.is_new
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
    """Whether the chain was rewritten, which must obey the laws."""
    after = rule.rewrite(chain)
    if isinstance(after, Skip):
        assert after.moot or after.reason.strip(), f"a Skip without a reason: {chain}"
        return False
    if isinstance(after, Expansion):
        return True  # test_laws runs it
    if sizes is None:
        sizes = [size for size in (axis.size for axis in chain.axes) if isinstance(size, int)]
        assert sizes
    wrong = list(unlawful(rule, chain, after, sizes))
    assert not wrong, f"{wrong}\n{chain}\n{after}"
    return True


@each_pass
@each_flavour
def test_without_a_pad(rule: Pass, flavour: str) -> None:
    for chain in unpadded(FLAVOURS[flavour]):
        assert_lawful(rule, chain)


@each_pass
def test_transposed(rule: Pass) -> None:
    for chain in transposed():
        assert_lawful(rule, chain)


@each_pass
@pytest.mark.parametrize("flavour", CORE)
def test_behind_a_pad(rule: Pass, flavour: str) -> None:
    for chain in padded(CORE[flavour], every=1 if EXHAUSTIVE else 8):
        assert_lawful(rule, chain)


@each_pass
@each_flavour
def test_behind_a_pad_of_another_value(rule: Pass, flavour: str) -> None:
    for chain in padded(FLAVOURS[flavour], 1 if EXHAUSTIVE else 97, OTHER_FILLS):
        assert_lawful(rule, chain)


@each_pass
@each_flavour
@pytest.mark.parametrize("front", [False, True], ids=["alone", "behind-a-pad"])
def test_unknown_sizes(rule: Pass, flavour: str, front: bool) -> None:
    pad = in_front(1, 2, FLAVOURS[flavour].fits) if front else None
    drawn = product(windows(), unknown_sizes(), PADDINGS)
    for (kernel, stride, dilation), size, padding in islice(
        drawn, 0, None, 1 if EXHAUSTIVE else 13
    ):
        chain = FLAVOURS[flavour].chain(Axis(size, kernel, stride, dilation), padding, pad)
        possible = [n for n in admitted(size, 24) if not front or n > 3]
        assert_lawful(rule, chain, possible)


@each_pass
def test_a_pass_rewrites_something(rule: Pass) -> None:
    if rule.name == "plain-col2im":
        pytest.skip("Col2Im has no windows; no chain of these is one")
    drawn = [chain for flavour in CORE.values() for chain in islice(unpadded(flavour), 0, None, 97)]
    drawn += [*islice(transposed(), 0, None, 97), *islice(padded(CORE["Conv"], 25), 0, None, 97)]
    drawn += lone_pads()
    assert sum(assert_lawful(rule, chain) for chain in drawn) >= 30


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
    drawn = [*unpadded(CORE["Conv"]), *padded(CORE["Conv"], 25)][::5]
    for chain in filter(matches, drawn):
        verdict = all_passes()[name].rewrite(chain)
        size = chain.axes[0].size
        assert isinstance(size, int)
        fits = not list(other_windows(chain, chain, size))
        assert isinstance(verdict, Chain) is fits, f"{verdict}\n{chain}"
