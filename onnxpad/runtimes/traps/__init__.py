"""Padding that is written correctly and still goes wrong somewhere: one function per trap.

The files of this folder hold the rules; the folder is walked, there is no second list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import NamedTuple

from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import Chain
from onnxpad.padding.operators import Kind
from onnxpad.plugins import Plugins
from onnxpad.reports import reported


@reported("*")
class Trap(NamedTuple):
    """A trap that a node is in: its code, what goes wrong there, and passes that may help."""

    code: str
    sentence: str
    passes: tuple[str, ...] = ()


Finder = Callable[[Chain, AsWritten], str | None]
ChainFinder = Callable[[Chain], str | None]


class TrapRule(NamedTuple):
    """How one trap is found; `text` says what it is about, `source` where that is known from.

    `passes` are those that take the trap away where they can, from operators of the kind `helped`
    (None: of all kinds). `target` is the one that refuses what is in the trap, or says that its
    runtime miscomputes it; '' where no single one does.
    """

    code: str
    text: str
    source: str
    find: Finder
    passes: tuple[str, ...] = ()
    helped: Kind | None = None
    target: str = ""


def rule(
    code: str,
    source: str,
    *,
    passes: Sequence[str] = (),
    helped: Kind | None = None,
    target: str = "",
) -> Callable[[Finder], TrapRule]:
    """Make a rule of a function that gives the trap's sentence, or None; its docstring explains."""
    return lambda find: TrapRule(code, _text_of(find), source, find, tuple(passes), helped, target)


def chain_rule(
    code: str,
    source: str,
    *,
    passes: Sequence[str] = (),
    helped: Kind | None = None,
    target: str = "",
) -> Callable[[ChainFinder], TrapRule]:
    """The same of a function that asks for the chain alone, such as those of `kernels`."""

    def made(find: ChainFinder) -> TrapRule:
        whole = rule(code, source, passes=passes, helped=helped, target=target)(
            lambda chain, _: find(chain)
        )
        return whole._replace(text=_text_of(find))

    return made


def _text_of(find: Finder | ChainFinder) -> str:
    lines = (find.__doc__ or "").strip().splitlines()
    return "\n".join(line.strip() for line in lines)


def helping(code: str, passes: Sequence[str]) -> str:
    """The target for which a rewrite mends a trap that has these passes; '' where none does.

    What the newest release refuses is mended by passes alone.
    """
    target = all_rules()[code].target
    return target if passes or "@" in target else ""


def of_another(code: str, asked: Iterable[str]) -> str:
    """The runtime whose trap it is, where other targets alone were asked about; '' elsewhere."""
    runtimes = {target.partition("@")[0] for target in asked}
    runtime = all_rules()[code].target.partition("@")[0]
    return runtime if runtimes and runtime not in runtimes else ""


@cache
def all_rules() -> dict[str, TrapRule]:
    """Every rule by its code."""
    return {item.code: item for rules in _RULES.all().values() for item in rules}


def traps_of(chain: Chain, written: AsWritten) -> tuple[Trap, ...]:
    """Every trap that a padded node is in."""
    found = ((item, item.find(chain, written)) for item in all_rules().values())
    return tuple(
        Trap(item.code, sentence, item.passes if item.helped in (None, chain.op.kind) else ())
        for item, sentence in found
        if sentence
    )


def _rules_in(module: ModuleType) -> list[TrapRule]:
    return [item for item in vars(module).values() if isinstance(item, TrapRule)]


_RULES = Plugins(__name__, "trap", _rules_in)
