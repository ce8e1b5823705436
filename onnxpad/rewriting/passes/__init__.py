"""Rewrites, one file each; the folder is walked, there is no second list."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from onnxpad.errors import InternalError, RequestError
from onnxpad.padding.chain import Chain, Verdict
from onnxpad.padding.forms import Form


@dataclass(frozen=True, slots=True)
class Pass:
    """One rewrite: the forms that it removes and may add, and the function that decides.

    `may_remove` are forms that go with these in some models, and stay in others.

    `rewrite` is pure: it maps a chain to the chain or the expansion that computes the same, or
    to a Skip.
    `otherwise` gives the same in another way, for runtimes that cannot run the first.
    `text` is the docstring of the pass's file.
    """

    name: str
    removes: frozenset[Form]
    adds: frozenset[Form]
    rewrite: Callable[[Chain], Verdict]
    text: str
    may_remove: frozenset[Form] = frozenset()
    otherwise: Callable[[Chain], Verdict | None] = lambda _: None


@cache
def all_passes() -> dict[str, Pass]:
    """Every pass by name; the name is the file's, with dashes."""
    return {found.name: found for found in (_load(file) for file in _files())}


def find_pass(name: str) -> Pass:
    """The pass called `name`; RequestError with the nearest name where there is none."""
    file = name.replace("-", "_")
    if file in _files() and "_" not in name:
        return _load(file)
    if "," in name:
        each = " ".join(f"--pass {one.strip()}" for one in name.split(",") if one.strip())
        raise RequestError(f"no pass is called '{name}': one name at a time, such as {each}")
    from difflib import get_close_matches

    names = [one.replace("_", "-") for one in _files()]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"
    raise RequestError(f"no pass is called '{name}': {hint}")


def _files() -> tuple[str, ...]:
    return _files_in(tuple(__path__))


@cache
def _files_in(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folders)))


@cache
def _load(file: str) -> Pass:
    module = import_module(f"{__name__}.{file}")
    try:
        return Pass(
            name=file.replace("_", "-"),
            removes=frozenset(module.REMOVES),
            adds=frozenset(module.ADDS),
            rewrite=module.rewrite,
            text=(module.__doc__ or "").strip(),
            may_remove=frozenset(getattr(module, "MAY_REMOVE", ())),
            otherwise=getattr(module, "otherwise", lambda _: None),
        )
    except AttributeError as error:
        raise InternalError(f"pass file '{file}.py' lacks {error.name}") from error
