"""Rows of targets: a fact about a runtime, its operators, conditions and evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from onnxpad.padding.chain import Chain


class Answer(StrEnum):
    """What a runtime does with a node, the worst last.

    FALLS_BACK: it leaves the node to the CPU, which computes it right; the tensors are copied there
    and back.
    """

    TAKES = "takes"
    FALLS_BACK = "falls back"
    UNKNOWN = "unknown"
    REFUSES = "refuses"
    MISCOMPUTES = "miscomputes"

    @property
    def fails(self) -> bool:
        """Whether the model does not run there, or computes something else."""
        return self in (Answer.REFUSES, Answer.MISCOMPUTES)

    @property
    def is_open(self) -> bool:
        """Whether nothing is known."""
        return self is Answer.UNKNOWN

    @property
    def rank(self) -> int:
        """How bad it is; silent errors are the worst."""
        return _RANKS[self]

    @property
    def does(self) -> str:
        """What a runtime does with a node, behind its name: 'refuses it'."""
        if self is Answer.MISCOMPUTES:
            return "computes wrong numbers"
        return "leaves it to the CPU" if self is Answer.FALLS_BACK else f"{self} it"


_RANKS = {answer: rank for rank, answer in enumerate(Answer)}


class Certainty(StrEnum):
    """How a fact is known, the best first."""

    MEASURED = "measured"
    READ = "read in source"
    DOCUMENTED = "documented"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a fact is known from: `where` is a version or a file, `what` what was run or read."""

    certainty: Certainty
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.certainty}: {self.where}, {self.what}"


@dataclass(frozen=True, slots=True)
class Condition:
    """A question about a chain. `holds` answers None where it hangs on what is not known.

    `negation` says the opposite of `text`, `cure` what a user can do to the model about it.
    `of_opset` marks questions about the opset of the model, `of_sizes` those about sizes that the
    file leaves open: what is done about them is done to the whole model.
    """

    text: str
    holds: Callable[[Chain], bool | None]
    negation: str = ""
    cure: str = ""
    of_opset: bool = False
    of_sizes: bool = False

    def __invert__(self) -> Condition:
        def opposite(chain: Chain) -> bool | None:
            found = self.holds(chain)
            return None if found is None else not found

        text = self.negation or f"not ({self.text})"
        return Condition(text, opposite, self.text)


def every(conditions: tuple[Condition, ...], chain: Chain) -> bool | None:
    """Whether all hold: False as soon as one does not, None where that is not known."""
    found = [condition.holds(chain) for condition in conditions]
    if False in found:
        return False
    return None if None in found else True


@dataclass(frozen=True, slots=True)
class Row:
    """What a runtime does with `operators` where every condition holds.

    Operators that pad are named by their titles in padding/operators, those that have no padding of
    their own (Slice, Concat, Mul ...) as in conditions/plain_facts: rows about these have
    conditions about the opset at most. `says` is the reason in words of its own, where the
    conditions alone would not tell a user what is wrong, `unshown` why no small model of one
    operator shows it. `since` and `until` are the first and the last release in which it was seen
    to hold, '' where no end is known.
    """

    operators: tuple[str, ...]
    answer: Answer
    when: tuple[Condition, ...]
    evidence: Evidence
    says: str = ""
    since: str = ""
    until: str = ""
    unshown: str = ""

    @property
    def what(self) -> str:
        """The operators and the conditions."""
        names = ", ".join(self.operators)
        return f"{names} where {self._conditions}" if self.when else names

    @property
    def why(self) -> str:
        """The reason for a user: what the row says, or its conditions."""
        return self.says or self._conditions

    @property
    def _conditions(self) -> str:
        return ", and ".join(condition.text for condition in self.when)

    @property
    def asks_for_opset(self) -> bool:
        """Whether another opset of the model may take a node out of the row."""
        return any(condition.of_opset for condition in self.when)

    @property
    def asks_for_sizes(self) -> bool:
        """Whether a node is in the row for a size that the file leaves open."""
        return any(condition.of_sizes for condition in self.when)

    @property
    def cure(self) -> str:
        """What a user can do to the model so that the row no longer holds; '' for nothing."""
        return next((condition.cure for condition in self.when if condition.cure), "")
