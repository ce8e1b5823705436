"""Rewrites, one file each; the folder is walked, there is no second list.

A file holds REMOVES and ADDS (sets of forms), `rewrite`, and a docstring with the headings What,
Exact, Refuses, Cost and Example, which `explain` shows. What the law tests ask of every pass:

- it is asked about every padded operator: what it is not about is a Skip with `moot=True`, and
  transposed convolutions, Pads and operators that are shown only (Kind.OTHER) are such chains too
- no form of REMOVES is left in what it writes, none comes that ADDS does not have, and it finds
  nothing more to do in its own result
- where the input is known to hold no window (`effective_pads.short_axis`), it is a Skip
- all numbers stay; runtimes are none of its business, the pipeline asks for them

A file may hold WAYS, passes by their names that do the same in one way each; `_WAYS` has the names.
A pass has cases as text in `tests/rewriting/cases`; one for an operator that the laws' small models
do not have stands in `tests/laws/test_models.py`, IN_TEXT.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache
from types import ModuleType
from typing import NamedTuple, TypeAlias

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.expansion import Expansion
from onnxpad.padding.forms import Form
from onnxpad.plugins import Plugins, name_of, text_of
from onnxpad.rewriting.steps.refusals import Refused

Rewrite: TypeAlias = "Callable[[Chain], PassResult | Iterable[PassResult]]"
"""What a pass writes of a chain: one thing, or several that compute the same, the best first.

The others are for runtimes that cannot run the first one; a Skip among them has reasons and hints
for those that can run none.
"""


@dataclass(frozen=True, slots=True)
class Pass:
    """One rewrite: the forms that it removes and may add, and the function that decides.

    `may_remove` are forms that go with these in some models, and stay in others. `text` is the
    docstring of the pass's file.
    """

    name: str
    removes: frozenset[Form]
    adds: frozenset[Form]
    write: Rewrite
    text: str
    may_remove: frozenset[Form] = frozenset()
    ways: Mapping[str, Way] = field(default_factory=dict, hash=False)

    def results(self, chain: Chain) -> Iterator[PassResult]:
        """What it writes, the best first; a Skip where it refuses. The chain stays as it is."""
        try:
            result = self.write(chain)
            if isinstance(result, Chain | Expansion | Skip):
                yield result
            else:
                yield from result
        except Refused as refused:
            yield refused.skip

    def rewrite(self, chain: Chain) -> PassResult:
        """The first of these."""
        return next(self.results(chain))


class Way(NamedTuple):
    """One of the ways of a pass, which is a pass as well; its forms are those of the file, or own.

    `text` is its first line.
    """

    text: str
    write: Rewrite
    removes: AbstractSet[Form] | None = None
    may_remove: AbstractSet[Form] | None = None
    adds: AbstractSet[Form] | None = None


def all_passes() -> dict[str, Pass]:
    """Every pass by name; the name is the file's, with dashes."""
    return {name: find_pass(name) for name in pass_names()}


_WAYS = {
    "all-axes": "static-pads",
    "auto-pads": "explicit-pads",
    "average-by-parts": "uncounted-padding",
    "border-pads": "split-pads",
    "clipped-pads": "concat-pads",
    "counted-padding": "uncounted-padding",
    "crop-by-slice": "plain-transpose",
    "even-dilations": "plain-dilations",
    "lp-pool": "average-by-conv",
    "odd-kernels": "plain-dilations",
    "pad-by-two-convs": "pad-by-conv",
    "plain-value": "static-pads",
    "quantised-pad": "static-pads",
    "repeated-mirrors": "plain-pad",
    "runtime-pads": "explicit-pads",
    "separate-bias": "output-padding-by-kernel",
    "slice-transpose": "plain-transpose",
    "symmetric-pads-by-kernel": "symmetric-pads",
    "symmetric-pads-by-pad": "symmetric-pads",
    "symmetric-pads-by-slice": "symmetric-pads",
}
"""Passes that are ways of another, with that."""
_FORMER = {
    "auto-pads-upper": "auto-pads",
    "finite-value": "absorb-pad",
    "output-padding-by-pad": "output-padding-by-kernel",
    "spatial-pads": "concat-pads",
    "zero-pads": "concat-pads",
    "zero-value": "absorb-pad",
}
"""Names of passes that are gone, and of those that run in their place."""


def find_pass(name: str) -> Pass:
    """The pass called `name`; RequestError with the nearest name where there is none.

    A FutureWarning where the name is a former one.
    """
    if name in _FORMER:
        now = _FORMER[name]
        message = f"the pass '{name}' is gone, '{now}' runs in its place"
        warnings.warn(message, FutureWarning, stacklevel=2)
        return find_pass(now)
    return _PASSES.find(name)


def pass_names() -> tuple[str, ...]:
    """Their names; no file is loaded for that."""
    return tuple(_PASSES)


class _Passes(Plugins[Pass]):
    """The files, and the ways that some of them hold."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted((*super().__iter__(), *_WAYS)))

    def __contains__(self, name: object) -> bool:
        return name in _WAYS or super().__contains__(name)

    def __getitem__(self, name: str) -> Pass:
        whole = super().__getitem__(_WAYS.get(name, name))
        return _way(whole, name) if name in _WAYS else whole


@cache
def _pass_in(module: ModuleType) -> Pass:
    return Pass(
        name=name_of(module),
        removes=frozenset(module.REMOVES),
        adds=frozenset(module.ADDS),
        write=module.rewrite,
        text=text_of(module),
        may_remove=frozenset(getattr(module, "MAY_REMOVE", ())),
        ways=getattr(module, "WAYS", {}),
    )


@cache
def _way(whole: Pass, name: str) -> Pass:
    way = whole.ways[name]
    forms = ("removes", "may_remove", "adds")
    own = {kind: getattr(way, kind) for kind in forms if getattr(way, kind) is not None}
    text = "\n\n".join((way.text, *whole.text.split("\n\n")[1:]))
    return replace(
        whole,
        name=name,
        write=way.write,
        text=text,
        ways={},
        **{kind: frozenset(forms) for kind, forms in own.items()},
    )


_PASSES = _Passes(__name__, "pass", _pass_in)
