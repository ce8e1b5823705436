"""What a target does with a node, by the rows of its file alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from onnxpad.errors import together
from onnxpad.padding.chain import Chain, Pads, is_same
from onnxpad.padding.effective_pads import without_windows
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import mixed_types
from onnxpad.padding.operators import OPERATORS, Kind
from onnxpad.runtimes.conditions.rows import Answer, Row, every
from onnxpad.runtimes.conditions.words import AGAINST_TEXT, WORDS
from onnxpad.runtimes.releases import is_about
from onnxpad.runtimes.targets import Target

_FALLS_BACK = Answer.FALLS_BACK
_MAY = {Answer.REFUSES: "refuse it", Answer.MISCOMPUTES: "compute wrong numbers"}
# Measured in eleven runtimes with the models of test_windows_that_do_not_fit.py.
_WITHOUT_CELLS = "most runtimes stop there or make cells up; is the model made for larger inputs?"
_TWO_TYPES = WORDS["two_types"].says
_RARE = ("mirrors_beyond", "padding_alone")
"""Words about nodes of which others tell nothing; negative pads of operators are another."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One answer; `rows` are the facts behind it, `reason` says them in words.

    `by` names the runtimes that stand in the way where several were asked. `at_some_sizes`: it
    miscomputes SAME, and perhaps not at every size that the model leaves open. `settled_by` are the
    options of which one has to be given, for a node that says two things. `measured` says which
    runtime was run for it, where one was: it is then known from that run.
    """

    answer: Answer
    reason: str
    rows: tuple[Row, ...] = ()
    by: tuple[str, ...] = ()
    at_some_sizes: bool = False
    settled_by: tuple[str, ...] = ()
    measured: str = ""

    @property
    def is_blanket(self) -> bool:
        """Whether the target does this with every node of the operator."""
        return self.answer.fails and any(not row.when for row in self.rows)

    @property
    def does(self) -> str:
        """What the target does with the node, or may do, behind its name: 'refuses it'."""
        return f"may {_MAY[self.answer]}" if self.at_some_sizes else self.answer.does

    @property
    def sentence(self) -> str:
        """What happens to the node, and then why: 'refuses it: it has no LpPool'."""
        if self.by or not self.reason:
            return self.reason
        if not self.answer.is_open:
            return f"{self.does}: {self.reason}"
        feared = {row.answer for row in self.rows}
        may = " or ".join(_MAY[answer] for answer in _MAY if answer in feared)
        return f"{f'may {may}' if may else 'not known'}: {self.reason}"

    @property
    def why(self) -> str:
        """The sentence, without what the verdict beside it says."""
        return self.sentence.removeprefix(f"{self.answer.does}: ").removeprefix("not known: ")

    @property
    def evidence(self) -> tuple[str, ...]:
        """How the facts are known."""
        if self.measured:
            return tuple(self.measured.split("; "))
        return tuple(dict.fromkeys(str(row.evidence) for row in self.rows))

    @property
    def cures(self) -> tuple[str, ...]:
        """What to do about it: options that settle it, or what helps outside of onnxpad."""
        return self.settled_by or cures(self.rows)


def judge(target: Target, chain: Chain) -> Judgement:
    """What `target` does with a padded operator; of several runtimes the worst answer counts.

    A row that refuses or miscomputes decides wherever its conditions hold, and makes the answer
    unknown where they hang on what is not known. Without one, a row that takes the operator
    decides; a row that leaves it to the CPU counts where it may hold, since that costs time alone.
    What was seen of other nodes says nothing of negative pads of operators, of mirrors longer than
    the axis, of windows of padding alone, of windows that do not fit, and of values, types and
    opsets that ONNX does not have.
    """
    if target.parts:
        return joint([(part.name, judge(part, chain)) for part in target.parts])
    if chain.trouble and chain.trouble.unread:
        return Judgement(Answer.UNKNOWN, chain.trouble.reason)
    found = [(row, every(row.when, chain)) for row in target.about(chain.op.title)]
    for answer in (Answer.MISCOMPUTES, Answer.REFUSES, Answer.UNKNOWN):
        holding = tuple(row for row, holds in found if holds and row.answer is answer)
        ends = answer is Answer.MISCOMPUTES and _ends_first(target, holding, found)
        if holding and not ends:
            some = is_same(chain.padding) and not chain.has_fixed_sizes
            some &= answer is Answer.MISCOMPUTES
            return Judgement(answer, _reasons(holding, chain), holding, at_some_sizes=some)
    lacking = _what_onnx_lacks(chain)
    doubtful = tuple(
        row for row, holds in found if holds is None and row.answer.fails and not lacking
    )
    if doubtful or (chain.trouble and chain.trouble.hints):
        return _open(doubtful, chain)
    if said := lacking or _unlike_what_was_run(chain):
        return Judgement(Answer.UNKNOWN, said)
    rare = _unlike_others(chain)
    if rare:
        asked = [(row, holds, {one.text for one in row.when}) for row, holds in found]
        found = [(row, holds) for row, holds, texts in asked if texts.intersection(rare)]
    slow = tuple(row for row, holds in found if holds is not False and row.answer is _FALLS_BACK)
    if slow:
        return Judgement(_FALLS_BACK, _reasons(slow, chain), slow)
    taking = tuple(row for row, holds in found if holds and row.answer is Answer.TAKES)
    if taking:
        return Judgement(Answer.TAKES, "", taking)
    return _untested(target, chain.op.title, *rare)


def _ends_first(
    target: Target, wrong: Sequence[Row], found: Sequence[tuple[Row, bool | None]]
) -> bool:
    """Whether it ends before it computes: at two element types, or where this release was seen to.

    The rows by which it computes `wrong` numbers were then measured with other releases alone.
    """
    release = target.name.partition("@")[2]
    ending = [row for row, holds in found if holds and row.answer is Answer.REFUSES]
    is_first = release and not any(is_about(row, release) for row in wrong)
    return any(
        (is_first and is_about(row, release)) or any(one.text == _TWO_TYPES for one in row.when)
        for row in ending
    )


def _untested(target: Target, operator: str, *where: str) -> Judgement:
    text = f" where {where[0]}" if where else ""
    if target.has_own_rules:
        more = "a rule with these words may" if where else "`takes` may name it"
        said = f"the rules of {target.name} say nothing of {operator}{text}: {more}"
        return Judgement(Answer.UNKNOWN, said)
    return Judgement(Answer.UNKNOWN, f"{operator} is untested on {target.name}{text}")


def _unlike_others(chain: Chain) -> list[str]:
    """Conditions for which only a row that asks for one says that a target takes the node."""
    names = _RARE if chain.op.kind is Kind.PAD else (*_RARE, "negative_pads")
    return [WORDS[name].says for name in names if WORDS[name].holds(chain)]


def checks_the_text(target: Target) -> bool:
    """Whether the runtime is known to refuse whatever the ONNX text does not allow."""
    parts = target.parts or (target,)
    return any(AGAINST_TEXT in row.when for one in parts for row in one.rows)


def judge_illegal(target: Target, chain: Chain, said: str) -> Judgement:
    """What `target` does with a node that the ONNX text does not allow, for the reason `said`."""
    if target.parts:
        return joint([(one.name, judge_illegal(one, chain, said)) for one in target.parts])
    rows = tuple(row for row in target.about(chain.op.title) if AGAINST_TEXT in row.when)
    return Judgement(Answer.REFUSES, said, rows) if rows else judge(target, chain)


def _what_onnx_lacks(chain: Chain) -> str:
    """Which value of the node ONNX does not have; '' where there is none."""
    return chain.trouble.reason if chain.trouble and chain.trouble.illegal else ""


def _unlike_what_was_run(chain: Chain) -> str:
    """Why what was seen of other nodes says nothing of this one; '' where it does."""
    if chain.conflict_settled:
        return "auto_pad and pads are both written, and runtimes differ in which one wins"
    if mixed := mixed_types(chain):
        return f"{mixed}: most runtimes refuse to load the model"
    short = without_windows(chain)
    return f"{short}, and {_WITHOUT_CELLS}" if short else ""


def joint(found: Sequence[tuple[str, Judgement]]) -> Judgement:
    """The worst answer, with the reasons of all runtimes that do not take it, the worst first."""
    answer = max((one.answer for _, one in found), key=lambda a: a.rank)
    deciding = [(name, one) for name, one in found if one.answer is answer]
    rows = tuple(row for _, one in deciding for row in one.rows)
    measured = "; ".join(dict.fromkeys(one.measured for _, one in deciding if one.measured))
    if answer is Answer.TAKES:
        return Judgement(answer, "", rows, measured=measured)
    worst_first = sorted(found, key=lambda one: -one[1].answer.rank)
    told = [_told(name, one) for name, one in worst_first if one.answer is not Answer.TAKES]
    names = tuple(name for name, _ in deciding)
    options = next((one.settled_by for _, one in deciding if one.settled_by), ())
    said = "; ".join(told)
    return Judgement(answer, said, rows, names, settled_by=options, measured=measured)


def _told(name: str, found: Judgement) -> str:
    if found.answer.fails or found.answer is _FALLS_BACK:
        return f"{name} {found.does}: {found.reason}"
    return f"{name}: {found.reason}"


def newly_failing(target: Target, before: Chain, after: Chain) -> tuple[Row, ...]:
    """Rows by which `target` fails `after`, and not `before`.

    What it computes wrongly before need only load.
    """
    if target.parts:
        return tuple(row for part in target.parts for row in newly_failing(part, before, after))
    found = failing(target, after)
    held = failing(target, before) if found else ()
    new = [row for row in found if row not in held]
    return tuple(row for row in new if not held or row.answer is Answer.REFUSES)


def failing(target: Target, chain: Chain) -> tuple[Row, ...]:
    """Every row by which `target` refuses the operator or computes it wrongly."""
    rows = target.about(chain.op.title)
    return tuple(row for row in rows if row.answer.fails and every(row.when, chain))


def judge_plain(target: Target, operator: str, opset: int) -> Judgement:
    """The same for an operator without padding, such as a pass puts beside a padded one.

    Of its rows only conditions about the opset can hold.
    """
    if target.parts:
        return joint([(one.name, judge_plain(one, operator, opset)) for one in target.parts])
    around = plain_chain(opset)
    held = [row for row in target.about(operator) if every(row.when, around)]
    if held:
        answer = max((row.answer for row in held), key=lambda one: one.rank)
        holding = tuple(row for row in held if row.answer is answer)
        reasons = "" if answer is Answer.TAKES else _reasons(holding, around, operator)
        return Judgement(answer, reasons, holding)
    return _untested(target, operator)


def judge_undefined(target: Target, operator: str, opset: int) -> Judgement | None:
    """The same for an operator that ONNX does not define, with its domain: 'my.custom.Foo'.

    None where the target is known to have operators of its domain.
    """
    if target.parts:
        pairs = [(one.name, judge_undefined(one, operator, opset)) for one in target.parts]
        found = [(name, judgement) for name, judgement in pairs if judgement]
        return joint(found) if found else None
    domain, _, name = operator.rpartition(".")
    if not domain:
        return Judgement(Answer.UNKNOWN, f"opset {opset} of ONNX has no {name}")
    judgement = judge_plain(target, operator, opset)
    taken = (one for row in target.rows if row.answer is Answer.TAKES for one in row.operators)
    is_own = any(one.startswith(f"{domain}.") for one in taken)
    return judgement if judgement.rows or not is_own else None


@cache
def plain_chain(opset: int) -> Chain:
    """What stands for an operator without padding: nothing is known of it but the opset."""
    return Chain(OPERATORS["", "Pad"], opset, (), Pads((), ()), Constant(0))


def cures(rows: Sequence[Row]) -> tuple[str, ...]:
    """What a user can do to the model so that none of `rows` holds; () where that is not known."""
    found = tuple(dict.fromkeys(row.cure for row in rows))
    return (together(found),) if found and all(found) else ()


def _open(rows: tuple[Row, ...], chain: Chain) -> Judgement:
    """What is not known of the model, with the option that settles it where there is one."""
    if chain.trouble and chain.trouble.hints:
        trouble, options = chain.trouble.reason, chain.trouble.hints
        return Judgement(Answer.UNKNOWN, trouble, rows, settled_by=options)
    reason = f"the model leaves open whether {_reasons(rows, chain)}"
    return Judgement(Answer.UNKNOWN, reason, rows)


def _reasons(rows: tuple[Row, ...], chain: Chain, operator: str = "") -> str:
    name = operator or chain.op.title
    return "; ".join(dict.fromkeys(row.why or _blanket(row, name) for row in rows))


def _blanket(row: Row, operator: str) -> str:
    if row.answer is Answer.MISCOMPUTES:
        return f"it gets every {operator} wrong"
    if row.answer is Answer.UNKNOWN:
        return f"{operator} is untested on it"
    if row.answer is _FALLS_BACK:
        return f"its device has no {operator}"
    return f"it stops at {operator}" if " " in operator else f"it has no {operator}"
