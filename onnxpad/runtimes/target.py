"""A runtime as one value: its rows, and what else is known of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain, count

from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.own_targets import READ_FILES, Runs


@dataclass(frozen=True, slots=True)
class Target:
    """A runtime: what it does with padding, row by row.

    `version` is what the rows are about, `also` are other names that people write. `releases` are
    those that were measured or read, the oldest first; the last is that of `version`. `packages`
    are those of PyPI that install it, which tell the release that a user has. Releases before them
    belong to the target `before`, where there is one; `engine` then says which engine of a runtime
    each of both is. `name` and `text` come from the file.
    `rows` hold in the newest release, or in the one that was asked for, `history` has those of
    all; `note` says what is not known of that release. `parts` are set where it stands for
    several runtimes at once, which all have to take a node; it has no rows of its own then.
    `runner` is set for a runtime of the user's own, which is asked instead: a file, a command with
    {model} {inputs} {outputs}, or a function. It has no rows either.
    """

    version: str
    rows: tuple[Row, ...]
    also: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    before: str = ""
    engine: str = ""
    name: str = ""
    text: str = ""
    parts: tuple[Target, ...] = ()
    history: tuple[Row, ...] = ()
    note: str = ""
    packages: tuple[str, ...] = ()
    runner: str | Runs | None = field(default=None, compare=False)

    @property
    def is_own(self) -> bool:
        """Whether the target is a runtime of the user's own, which judges by running models."""
        return self.runner is not None

    @property
    def has_own_rules(self) -> bool:
        """Whether its rows come from a file of the user's."""
        return self.name in READ_FILES

    @property
    def runtime(self) -> str:
        """Its name without a release."""
        return self.name if self.is_own else self.name.partition("@")[0]

    def about(self, operator: str) -> list[Row]:
        """The rows about an operator, those of its `parts` too."""
        parts = self.parts or (self,)
        return [row for part in parts for row in part.rows if operator in row.operators]

    @property
    def failures(self) -> dict[str, Row]:
        """By address every row of every release by which it fails; the rows of its `parts` too.

        An address is what was run, up to a colon, in small letters with dashes, and behind it a
        number where an earlier row has that already.
        """
        found: dict[str, Row] = {}
        for row in (row for part in self.parts or (self,) for row in part.history or part.rows):
            if row.answer.fails:
                words = row.evidence.what.partition(":")[0].casefold()
                address = _BETWEEN_WORDS.sub("-", words).strip("-")
                names = chain([address], (f"{address}-{number}" for number in count(2)))
                found[next(name for name in names if name not in found)] = row
        return found


_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
