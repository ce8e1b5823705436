"""Rewrites, one file each; the folder is walked, there is no second list.

A file holds REMOVES and ADDS (sets of forms), `rewrite`, and a docstring with the headings What,
Exact, Refuses, Cost and Example, which `explain` shows. What the law tests ask of every pass:

- it is asked about every padded operator: what it is not about is a Skip with `moot=True`, and
  transposed convolutions, Pads and operators that are shown only (Kind.OTHER) are such chains too
- no form of REMOVES is left in what it writes, none comes that ADDS does not have, and it finds
  nothing more to do in its own result
- where the input is known to hold no window (`effective_pads.short_axis`), it is a Skip
- all numbers stay; runtimes are none of its business, the pipeline asks for them

A pass has cases as text in `tests/rewriting/cases`; one for an operator that the laws' small models
do not have stands in `tests/laws/test_models.py`, IN_TEXT.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.forms import Form
from onnxpad.plugins import Plugins, name_of, text_of


@dataclass(frozen=True, slots=True)
class Pass:
    """One rewrite: the forms that it removes and may add, and the function that decides.

    `may_remove` are forms that go with these in some models, and stay in others.

    `rewrite` is pure: it maps a chain to the chain or the expansion that computes the same, or
    to a Skip.
    `otherwise` gives the same in other ways, the best first, for runtimes that cannot run the
    first one; a Skip among them has reasons and hints for those that can run none.
    `text` is the docstring of the pass's file.
    """

    name: str
    removes: frozenset[Form]
    adds: frozenset[Form]
    rewrite: Callable[[Chain], PassResult]
    text: str
    may_remove: frozenset[Form] = frozenset()
    otherwise: Callable[[Chain], Iterable[PassResult]] = lambda _: ()


def all_passes() -> dict[str, Pass]:
    """Every pass by name; the name is the file's, with dashes."""
    return _PASSES.all()


_FORMER = {"auto-pads-upper": "auto-pads", "zero-pads": "concat-pads"}
"""Names of passes that are gone, and of those that do the same and more."""


def find_pass(name: str) -> Pass:
    """The pass called `name`; RequestError with the nearest name where there is none.

    A FutureWarning where the name is a former one.
    """
    if name in _FORMER:
        now = _FORMER[name]
        warnings.warn(f"the pass '{name}' is called '{now}' now", FutureWarning, stacklevel=2)
        return _PASSES.find(now)
    return _PASSES.find(name)


def pass_names() -> tuple[str, ...]:
    """Their names; no file is loaded for that."""
    return tuple(_PASSES)


@cache
def _pass_in(module: ModuleType) -> Pass:
    return Pass(
        name=name_of(module),
        removes=frozenset(module.REMOVES),
        adds=frozenset(module.ADDS),
        rewrite=module.rewrite,
        text=text_of(module),
        may_remove=frozenset(getattr(module, "MAY_REMOVE", ())),
        otherwise=getattr(module, "otherwise", lambda _: ()),
    )


_PASSES = Plugins(__name__, "pass", _pass_in, "--pass")
