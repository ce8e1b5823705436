"""What click parses with: verbs and options of the table, and what does not go together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from onnxpad.cli.options import IDLE, OPTIONS, VERBS, Option, options_of
from onnxpad.cli.outputs import check_outputs
from onnxpad.cli.values import kind_of

_HOMES = {
    **dict.fromkeys(("rewrite", "retarget"), "edits"),
    **dict.fromkeys(("explain", "guard", "measure", "port", "resolve"), "reports"),
}
"""The module of a verb, where that has not its name."""


class Verb(click.Command):
    """A verb: the options of its rows, and a function of its name."""

    def __init__(self, verb: str) -> None:
        super().__init__(
            verb,
            params=[_parameter(row) for row in options_of(verb).values()],
            callback=partial(_answered, verb),
            short_help=VERBS[verb],
            help=help_of(verb),
            context_settings={"allow_interspersed_args": verb != "guard"},
        )


def help_of(name: str) -> str:
    """A help text as click reads it: indented lines are commands, which are not wrapped."""
    path = Path(__file__).parent / "help" / f"{name}.txt"
    text = path.read_text(encoding="utf-8")
    return text.replace("\n\n    ", "\n\n\b\n").replace("\n    ", "\n")


def _answered(verb: str, **given: Any) -> int:  # noqa: ANN401 - click gives every option by name
    _check(verb, given)
    check_outputs(options_of(verb).values(), given)
    module = import_module(f"onnxpad.cli.{_HOMES.get(verb, verb)}")
    answer: Callable[[dict[str, Any]], int] = getattr(module, verb)
    return answer(given)


def _parameter(row: Option) -> click.Parameter:
    kind, more = kind_of(row.kind), row.more
    words, read = more.get("words", ""), kind.read
    attributes: dict[str, Any] = {
        "type": kind.type,
        "metavar": row.metavar or None,
        "callback": None if read is None else lambda _context, _option, value: read(value),
        "shell_complete": _completing(words) if words else None,
    }
    if row.is_argument:
        attributes |= {"nargs": -1} if "many" in more else {}
        return click.Argument([row.name], required="optional" not in more, **attributes)
    if row.kind in ("flag", "unset"):
        attributes["is_flag"] = True
    elif "default" in more:
        attributes |= {"default": more["default"], "show_default": True}
    if "alone" in more:
        attributes |= {"is_flag": False, "flag_value": more["alone"]}
    return click.Option(
        [*row.spellings, row.name],
        multiple="many" in more,
        required="required" in more,
        help=row.help,
        **attributes,
    )


def _completing(kinds: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """What a shell offers: names of a kind of what `explain` explains, or '*' of any."""

    def names(_context: click.Context, _option: click.Parameter, begin: str) -> list[str]:
        from onnxpad.explaining import entries

        offered = (entry.name for entry in entries() if kinds in ("*", entry.kind))
        return [name for name in offered if name.casefold().startswith(begin.casefold())]

    return names


def given_by_hand(name: str) -> bool:
    """Whether an option stands on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def _check(verb: str, given: Mapping[str, Any]) -> None:
    """UsageError for an option that lacks another one, contradicts it, or would do nothing."""
    rows = options_of(verb)
    for name, row in rows.items():
        for other in row.names("needs") if given[name] else ():
            if not given[other]:
                needed = f"{rows[other].spellings[0]} {rows[other].metavar}".strip()
                raise click.UsageError(f"{row.spellings[0]} needs {needed}")
        for other in row.names("not") if given[name] else ():
            if given[other]:
                both = f"{row.spellings[0]} and {rows[other].spellings[0]}"
                raise click.UsageError(f"{both} exclude each other: give one of them")
    state = {**given, "many": verb == "validate" and are_pairs(given)}
    for verbs, names, when, why in IDLE:
        idle = verb in verbs.split() and all(
            bool(state[name.lstrip("-")]) != name.startswith("-") for name in when.split()
        )
        named = [rows[name].spellings[0] for name in names.split() if idle and given_by_hand(name)]
        if named:
            does = "does" if len(named) == 1 else "do"
            raise click.UsageError(f"{' and '.join(named)} {does} nothing here: {why}")


def are_pairs(given: Mapping[str, Any]) -> bool:
    """Whether validate compares the models of folders, or is to work elsewhere."""
    return Path(given["before"]).is_dir() or bool(given["dask"])


def refuse_swallowed(words: Sequence[str]) -> None:
    """UsageError for an option behind which another one stands, in the place of its value."""
    wanting = {spelling for row in OPTIONS if row.has_value for spelling in row.spellings}
    for word, behind in pairwise(takewhile(lambda word: word != "--", words)):
        if word in wanting and behind.startswith("--"):
            raise click.UsageError(f"Option '{word}' requires an argument")
