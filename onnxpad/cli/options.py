"""The table of options, from which click, settings, completion and checks are made.

`options.txt` has three parts. First the verbs, each with its sentence in --help. Then a row for
each option: `SPELLING : VERBS : VALUE`, and below it its text in --help. A name without dashes is
an argument. If verbs call the value by another name, it ends the `SPELLING`. `VALUE` is a kind
(`cli.values`) or a choice `a|b`, the placeholder of --help, and any of

    many          the option may be repeated
    optional      the argument may be left out
    required      the option may not be left out
    set           pyproject.toml may set it
    default=VALUE
    alone=VALUE   its value if it is typed without one
    words=KINDS   the names that a shell completes, by kinds of `explain`
    needs=NAMES   options without which it means nothing
    not=NAMES     options that contradict it
    prints        '-' stands for standard output

Last come options that have no effect beside others: verbs, options, the cause (`-`: its absence),
and the reason. pyproject.toml may come with a stranger's model: it says nothing of what is read
and written, starts no program, and lifts no limit.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_VERBS, _ROWS, _IDLE = (
    Path(__file__).with_name("options.txt").read_text(encoding="utf-8").split("\n\n")
)
VERBS = dict(line.split(" : ", 1) for line in _VERBS.splitlines())
IDLE = [line.split(" : ") for line in _IDLE.splitlines()]
_ATTRIBUTE = re.compile("([a-z]+)(?:=(.+))?")


class Option(NamedTuple):
    """A row of the table.

    spellings: what is typed; the name in capitals for an argument.
    name: what the verb calls the value.
    metavar: the placeholder of --help, "" for that of the kind.
    more: the other words of the column VALUE, by their names; "" for those without a value.
    """

    spellings: tuple[str, ...]
    name: str
    verbs: tuple[str, ...]
    kind: str
    metavar: str
    more: dict[str, str]
    help: str

    @property
    def is_argument(self) -> bool:
        """Whether its place says what it is."""
        return not self.spellings[0].startswith("-")

    @property
    def has_value(self) -> bool:
        """Whether a value has to stand behind it."""
        return not (self.is_argument or self.kind in ("flag", "unset") or "alone" in self.more)

    @property
    def setting(self) -> str:
        """The name of the option in pyproject.toml."""
        return self.spellings[-1].lstrip("-")

    def names(self, key: str) -> list[str]:
        """Names of options that stand in the table under `key`."""
        return [name for name in self.more.get(key, "").split(",") if name]


def _row(text: str) -> Option:
    head, *help_lines = text.splitlines()
    spelling, verbs, value = head.split(" : ")
    *spellings, name = spelling.split()
    if name.startswith("-") or not spellings:
        spellings.append(name if name.startswith("-") else name.upper())
        name = name.lstrip("-").replace("-", "_")
    kind, *words = value.split()
    more: dict[str, str] = {}
    metavar = ""
    for word in words:
        if attribute := _ATTRIBUTE.fullmatch(word):
            more[attribute[1]] = attribute[2] or ""
        else:
            metavar = word.replace("_", " ")
    named = tuple(VERBS) if verbs == "all" else tuple(verbs.split())
    told = " ".join(line.strip() for line in help_lines)
    return Option(tuple(spellings), name, named, kind, metavar, more, told)


OPTIONS = [_row(text) for text in re.split(r"\n(?! )", _ROWS)]


def options_of(verb: str) -> dict[str, Option]:
    """The rows of a verb by name, in the order of the table."""
    return {row.name: row for row in OPTIONS if verb in row.verbs}
