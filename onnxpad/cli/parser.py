"""What click parses with: verbs and options of the table, and what does not go together."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from onnxpad.cli.options import IDLE, OPTIONS, VERBS, Option, options_of
from onnxpad.cli.values import kind_of
from onnxpad.errors import nearest

_LACKS = "requires an argument"


class Verb(click.Command):
    """A verb: the options of its rows, and the module of its name, whose docstring is its help."""

    def __init__(self, verb: str) -> None:
        super().__init__(
            verb,
            params=[_parameter(row) for row in options_of(verb).values()],
            callback=partial(_answered, verb),
            short_help=VERBS[verb],
            context_settings={"allow_interspersed_args": verb != "guard"},
        )

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the docstring of the module."""
        self.help = as_help(import_module(f"onnxpad.cli.{self.name}").__doc__)
        super().format_help_text(ctx, formatter)


def as_help(docstring: str | None) -> str:
    """A docstring as click reads it: indented lines are commands, which are not wrapped."""
    return inspect.cleandoc(docstring or "").replace("\n\n    ", "\n\n\b\n").replace("\n    ", "\n")


def _answered(verb: str, **given: Any) -> int:  # noqa: ANN401 - click gives every option by name
    _check(verb, given)
    answer: Callable[[dict[str, Any]], int] = getattr(import_module(f"onnxpad.cli.{verb}"), verb)
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
        if row.name == "more":
            attributes["metavar"] = ""
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
        if not given[name]:
            continue
        for other in row.names("needs"):
            if not given[other]:
                needed = f"{rows[other].spellings[0]} {rows[other].metavar}".strip()
                raise click.UsageError(f"{row.spellings[0]} needs {needed}")
        for other in row.names("not"):
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
    wanting = {spelling for row in OPTIONS if "eg" in row.more for spelling in row.spellings}
    for word, behind in pairwise(takewhile(lambda word: word != "--", words)):
        if word in wanting and behind.startswith("--"):
            raise click.BadOptionUsage(word, f"{word} {_LACKS}")


def usage_message(
    error: click.ClickException, words: Sequence[str], group: click.Command
) -> tuple[str, str]:
    """What is wrong with a command line, and what to type."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "onnxpad"
    if isinstance(error, click.BadOptionUsage) and _LACKS in error.message:
        verb = next((word for word in words if word in VERBS), "")  # click names no command
        return _without_value(error.option_name, verb)
    if isinstance(error, click.NoSuchOption):
        return _no_option(error), f"{path} --help"
    message = error.format_message().rstrip(".")
    first = next(iter(words), "")
    if context and context.command is group and first not in VERBS and Path(first).exists():
        return f"{message}: a verb comes first", f"onnxpad inspect {shlex.quote(first)}"
    return message, f"{path} --help"


def _without_value(option: str, verb: str) -> tuple[str, str]:
    """That an option lacks what stands behind it, and what to type."""
    rows = (row for row in options_of(verb).values() if option in row.spellings)
    more = next((row.more for row in rows), {})
    example = f", such as {option} {more['eg']}" if "eg" in more else ""
    explains = f"onnxpad explain {more['see']}" if "see" in more else ""
    return f"Option '{option}' needs a value{example}", explains or f"onnxpad {verb} --help"


def _no_option(error: click.NoSuchOption) -> str:
    """That an option does not exist, and what is meant; never one that overwrites files."""
    options = {one.strip("-"): one for one in error.possibilities or ()}
    near = [options[one] for one in nearest(error.option_name.strip("-"), options)]
    if not error.option_name.startswith("--in-"):
        near = [one for one in near if one != "--in-place"]
    answer = click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx)
    return answer.format_message().rstrip(".")
