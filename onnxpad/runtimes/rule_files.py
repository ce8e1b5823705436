"""Files of rules: what a runtime does with padding, as TOML in the words of conditions/words.

Built-in targets and targets of a user's own are read and checked alike; keys about releases,
sources and shared tables are for built-in ones alone.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from onnxpad.errors import RequestError, counted, headline, nearest
from onnxpad.padding.operators import OPERATORS, Kind
from onnxpad.runtimes.conditions import plain_facts
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import (
    OTHER_SHAPE,
    Answer,
    Certainty,
    Condition,
    Evidence,
    Row,
)
from onnxpad.runtimes.conditions.words import WORDS, Term, condition_of, word_called
from onnxpad.runtimes.own_targets import is_own_rules, is_own_runtime
from onnxpad.runtimes.releases import numbers, rows_in
from onnxpad.runtimes.target import Target

ALL = "all"
LARGEST = 1 << 20
_MOST_NAMES = 1000
"""Names in one list."""
_NEGATION = "not "
_SLIP = 0.87
_NAME = re.compile(r"\w[\w.+-]*")
_PADDED = tuple(op.title for op in OPERATORS.values())
_BESIDE = (
    *(plain_facts.CROP, plain_facts.JOIN, plain_facts.ARITHMETIC, plain_facts.LIMIT),
    *(plain_facts.RANK, plain_facts.LOOKUP, plain_facts.SHAPES, plain_facts.CONVERSIONS),
    *(plain_facts.BRANCH, plain_facts.COMPUTED_BRANCH),
)
"""What a rewrite writes beside padded operators, and If."""
_PLAIN = tuple(dict.fromkeys(name for group in _BESIDE for name in group))


def _of_kinds(*kinds: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(op.title for op in OPERATORS.values() if op.kind in kinds))


_CONVOLUTIONS = _of_kinds(Kind.CONVOLUTION)
_POOLS = _of_kinds(Kind.MAX, Kind.AVERAGE, Kind.LP)
GROUPS: Mapping[str, tuple[str, ...]] = {
    "windows": w.WINDOWS,
    "pools": w.POOLS,
    "quantised": w.QUANTISED,
    "crops": plain_facts.CROP,
    "crops of inputs": plain_facts.INPUT_CROP,
    "joins": plain_facts.JOIN,
    "blocks": plain_facts.BLOCKS,
    "outer blocks": plain_facts.OUTER_BLOCKS,
    "arithmetic": plain_facts.ARITHMETIC,
    "ranks": plain_facts.RANK,
    "everything beside": plain_facts.EVERYTHING,
    "every convolution": _CONVOLUTIONS,
    "every transposed": _of_kinds(Kind.TRANSPOSED),
    "every pool": _POOLS,
    "every average": _of_kinds(Kind.AVERAGE),
    "every Pad": _of_kinds(Kind.PAD),
    "every other": tuple(one for one in _PADDED if one not in (*_CONVOLUTIONS, *_POOLS)),
    "every padded": _PADDED,
}
"""Names that stand for several operators in a file of rules."""
_OPERATORS = (*_PADDED, *(name for name in _PLAIN if " " not in name))
_EVERY_OPERATOR = (*_PADDED, *plain_facts.EVERYTHING, *GROUPS)
_THRESHOLDS = tuple(name for name, word in WORDS.items() if word.takes_number)
_OF_OPSET = {"opset_above", "opset_below"}
_RULE_KEYS = ("operators", "when", "answer", "evidence", "says", "cure", "models", *_THRESHOLDS)
_FILE_KEYS = ("name", "version", "takes", "rule")
_BUILT_IN_RULE_KEYS = (
    *(*_RULE_KEYS, "does", "source", "since", "until", "gone", "unshown"),
    *("table",),
)
_BUILT_IN_FILE_KEYS = (
    *("text", "version", "source", "also", "releases", "packages", "before"),
    *("engine", "rule", "shared"),
)
_TABLES = {
    "loader": ("loader", "checks"),
    "loader of WebGPU": ("loader",),
    "CPU kernels": ("loader", "checks", "CPU kernels"),
}
"""What some names of tables stand for: several of them."""
_SHARED_KEYS = ("table", "operators", "source", "until")
_RULE_TEXTS = ("cure", "does", "source", "since", "until", "gone", "unshown")
_UNSHOWN = "small models have operators that pad, and what a rewrite writes beside them"


@dataclass(frozen=True, slots=True)
class TargetRule:
    """What a runtime does with `operators` where all terms of `when` hold.

    operators: titles of operators, names of GROUPS, or ("all",) for every operator that pads.
    evidence: where the rule is known from, in the user's words; of a built-in target what was run.
    cure: what a user can do to the model so that the rule no longer holds.
    models: how many models stand behind a measured rule.
    does: what the runtime does, where its answer does not say it well.
    source: how a rule of a built-in target is known, and where, if not as the rest of its file.
    since, until, gone, unshown: as in Row.
    """

    operators: tuple[str, ...]
    when: tuple[Term, ...]
    answer: Answer
    evidence: str = ""
    says: str = ""
    models: int | None = None
    cure: str = ""
    does: str = ""
    source: str = ""
    since: str = ""
    until: str = ""
    gone: str = ""
    unshown: str = ""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A file of rules. `takes` are operators without padding of their own or without a rule."""

    takes: tuple[str, ...] = ()
    rules: tuple[TargetRule, ...] = ()
    name: str = ""
    version: str = ""


def own_target(path: str, is_built_in: Callable[[str], bool]) -> Target:
    """The target that a file of rules describes; its name is none of a built-in target.

    Raises RequestError for a file that cannot be read, and with line and key for a wrong one.
    """
    return _target_of(path, _text_of(path), is_built_in)


def built_in_target(file: Path) -> Target:
    """The target that a file of this package describes; its name is that of the file.

    Raises RequestError with line and key for a wrong file.
    """
    reader = _Reader(file.read_text(encoding="utf-8"), file.name, lambda _: False, built_in=True)
    rules, table = reader.rules(), reader.table
    source = table.get("source") or f"{Certainty.MEASURED}: {rules.version}"
    releases = tuple(table.get("releases", ()))
    rows = (
        *(_built_in_row(rule, source) for rule in rules.rules),
        *_shared_rows(table.get("shared", ()), source, releases),
    )
    return Target(
        rules.version,
        rows_in(rows, releases[-1:]) if releases else rows,
        also=tuple(table.get("also", ())),
        releases=releases,
        before=table.get("before", ""),
        engine=table.get("engine", ""),
        name=file.stem.replace("_", "-"),
        text=table["text"].strip(),
        history=rows,
        packages=tuple(table.get("packages", ())),
    )


def _shared_rows(
    tables: Sequence[Mapping[str, Any]], source: str, releases: Sequence[str]
) -> Iterator[Row]:
    """Rows of tables that several targets include: those of onnxruntime."""
    rules = _shared_rules() if tables else ()
    for one in tables:
        own, last = one.get("source", source), one.get("until", "")
        plain = ("windows", "LpPool") if one["table"].startswith("loader") else ()
        about = _expanded(one.get("operators", plain))
        for table, rule in rules:
            if table not in _TABLES.get(one["table"], (one["table"],)):
                continue
            row = _shared_row(
                replace(rule, until=last) if rule.until == "last" else rule, own, releases
            )
            names = tuple(name for name in row.operators if not about or name in about)
            ended = row.until and releases and numbers(row.until) < numbers(releases[0])
            if names and not ended:
                yield replace(row, operators=names)


def _shared_row(rule: TargetRule, source: str, releases: Sequence[str]) -> Row:
    """A row whose evidence names the product, and the last of its releases that was run."""
    from onnxpad.runtimes.onnxruntime.rows import FACTS  # few files include tables

    known = [one for one in releases if rule.until and numbers(one) <= numbers(rule.until)]
    release = max(known or releases[:1], key=numbers, default="")
    told = rule.source.format(product=source.partition(": ")[2], release=release)
    return _built_in_row(replace(rule, source=told), source, FACTS)


@cache
def _shared_rules() -> tuple[tuple[str, TargetRule], ...]:
    """The rules of all tables, each with the name of its table."""
    from onnxpad.runtimes.onnxruntime.rows import FACTS, TABLES

    text = TABLES.read_text(encoding="utf-8")
    reader = _Reader(text, TABLES.name, lambda _: False, built_in=True, facts=FACTS)
    rules = reader.rules().rules
    return tuple(
        (raw["table"], rule) for raw, rule in zip(reader.table["rule"], rules, strict=True)
    )


def read_rules(
    text: str, path: str, is_built_in: Callable[[str], bool] = lambda _: False
) -> RuleFile:
    """The rules that TOML text holds; `path` names it in errors.

    Raises RequestError with line and key.
    """
    return _Reader(text, path, is_built_in).rules()


def rules_text(rules: RuleFile) -> str:
    """The rules as TOML text that `read_rules` reads back to equal rules."""
    head = {"name": rules.name, "version": rules.version}
    lines = [f"{key} = {_quoted(text)}" for key, text in head.items() if text]
    if rules.takes:
        lines.append(f"takes = {_listed(rules.takes)}")
    for rule in rules.rules:
        lines += ["", "[[rule]]", *_rule_lines(rule)]
    return "\n".join(lines) + "\n"


def _rule_lines(rule: TargetRule) -> Iterator[str]:
    yield f"operators = {_listed(rule.operators)}"
    words = [f"{_NEGATION}{one[1]}" if one[0] == "not" else one for one in rule.when]
    plain = [word for word in words if isinstance(word, str)]
    if plain:
        yield f"when = [{', '.join(map(_quoted, plain))}]"
    yield from (f"{word[0]} = {word[1]}" for word in words if not isinstance(word, str))
    yield f"answer = {_quoted(str(rule.answer))}"
    for key in ("evidence", "says", "cure"):
        if text := getattr(rule, key):
            yield f"{key} = {_quoted(text)}"
    if rule.models is not None:
        yield f"models = {rule.models}"


def _listed(names: Sequence[str]) -> str:
    return _quoted(ALL) if names == (ALL,) else f"[{', '.join(map(_quoted, names))}]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _text_of(path: str) -> str:
    file = Path(path)
    try:
        if not file.is_file():
            fault = "it is no file" if file.exists() else "there is no such file"
            raise RequestError(f"cannot read the target '{path}': {fault}")
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RequestError(f"cannot read the target '{path}': {reason}") from error
    if len(data) > LARGEST:
        raise RequestError(f"cannot read the target '{path}': it has more than {LARGEST:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RequestError(f"{path}, line {line}: the text is not UTF-8") from error


@lru_cache(maxsize=16)
def _target_of(path: str, text: str, is_built_in: Callable[[str], bool]) -> Target:
    rules = read_rules(text, path, is_built_in)
    name = rules.name or _name_from(path, is_built_in)
    rows = tuple(_row(number, rule, path) for number, rule in enumerate(rules.rules, 1))
    if rules.takes:
        is_measured = any(rule.models is not None for rule in rules.rules)
        certainty = Certainty.MEASURED if is_measured else Certainty.DOCUMENTED
        by = Evidence(certainty, path, "takes")
        everything = (*_PADDED, *_PLAIN) if rules.takes == (ALL,) else _spelled_out(rules.takes)
        rows = (Row(everything, Answer.TAKES, (), by), *rows)
    text = f"A target of your own.\n\n{counted(len(rules.rules), 'rule')} from {path}."
    return Target(rules.version or path, rows, name=name, text=text)


def _row(number: int, rule: TargetRule, path: str) -> Row:
    models = "" if rule.models is None else counted(rule.models, "model")
    certainty = Certainty.DOCUMENTED if rule.models is None else Certainty.MEASURED
    what = ", ".join(filter(None, (rule.evidence, models))) or f"rule {number}"
    operators = _PADDED if rule.operators == (ALL,) else _spelled_out(rule.operators)
    when = tuple(condition_of([term]) for term in rule.when)
    return Row(operators, rule.answer, when, Evidence(certainty, path, what), rule.says)


def _built_in_row(
    rule: TargetRule, source: str, facts: Mapping[str, Condition] = MappingProxyType({})
) -> Row:
    when = tuple(
        facts[term]
        if isinstance(term, str) and term in facts
        else condition_of([term], settled=False)
        for term in rule.when
    )
    says = rule.says
    if rule.cure and when:
        when = (replace(when[0], cure=rule.cure), *when[1:])
    elif rule.cure:
        when, says = (Condition.remedy(says, rule.cure),), ""
    operators = _expanded(rule.operators)
    is_beside = not any(name in _PADDED for name in operators)
    loses_shape = rule.answer is Answer.MISCOMPUTES and any(one.of_windows for one in when)
    return Row(
        operators,
        rule.answer,
        when,
        _evidence(rule.source or source, rule.evidence),
        says,
        rule.does or (OTHER_SHAPE if loses_shape else ""),
        rule.since,
        rule.until,
        rule.gone,
        rule.unshown or (_UNSHOWN if is_beside and rule.answer.fails else ""),
    )


def _evidence(source: str, what: str) -> Evidence:
    certainty, _, where = source.partition(": ")
    return Evidence(Certainty(certainty), where, what)


def _expanded(operators: Iterable[str]) -> tuple[str, ...]:
    """The operators that names of them and of groups stand for."""
    return tuple(one for name in operators for one in GROUPS.get(name, (name,)))


def _spelled_out(operators: Iterable[str]) -> tuple[str, ...]:
    """The operators with every name that onnxpad has for one of them: 'Slice of an input'."""
    found: dict[str, None] = dict.fromkeys(_expanded(operators))
    for name in _PLAIN:
        if not found.keys().isdisjoint(name.split()):
            found[name] = None
    return tuple(found)


def _name_from(path: str, is_built_in: Callable[[str], bool]) -> str:
    stem = Path(path).stem
    return f"own-{stem}" if stem == ALL or is_built_in(stem) else stem


def _is_name(text: str) -> bool:
    """Whether a target may be called so: nothing that is read or started as a file."""
    return bool(_NAME.fullmatch(text)) and not is_own_rules(text) and not is_own_runtime(text)


class _Reader:
    """One file; every error of it names the line of a key."""

    def __init__(
        self,
        text: str,
        path: str,
        is_built_in: Callable[[str], bool],
        *,
        built_in: bool = False,
        facts: Collection[str] = (),
    ) -> None:
        self._facts = facts
        self._is_built_in = is_built_in
        self._text = text.replace("\r\n", "\n")
        self._path = path
        self._rule_keys = _BUILT_IN_RULE_KEYS if built_in else _RULE_KEYS
        self._file_keys = _BUILT_IN_FILE_KEYS if built_in else _FILE_KEYS
        self._operators_known = _EVERY_OPERATOR if built_in else _OPERATORS
        self.table: dict[str, Any] = {}

    def rules(self) -> RuleFile:
        try:
            self.table = table = tomllib.loads(self._text)
        except (ValueError, RecursionError) as error:
            raise RequestError(f"{self._path} is not TOML: {headline(error)}") from error
        self._refuse_unknown(None, table, self._file_keys)
        tables = table.get("rule", [])
        if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            self._refuse(None, "rule", "rules are tables that begin with [[rule]]")
        for one in table.get("shared", ()):
            self._refuse_unknown(None, one, _SHARED_KEYS)
        takes = self._operators(None, "takes", table["takes"]) if "takes" in table else ()
        rules = RuleFile(
            takes,
            tuple(self._rule(number, one) for number, one in enumerate(tables)),
            self._name(table),
            self._line_of_text(None, "version", table),
        )
        if not takes and not rules.rules:
            raise RequestError(f"{self._path} has no rule: 'onnxpad explain own-runtime' shows one")
        return rules

    def _name(self, table: Mapping[str, Any]) -> str:
        name = self._line_of_text(None, "name", table)
        if "name" in table and not _is_name(name):
            self._refuse(
                None, "name", "it takes a name of letters, digits and - . + _, such as npu"
            )
        if name and (name == ALL or self._is_built_in(name)):
            self._refuse(None, "name", f"'{name}' is a target of onnxpad: choose another name")
        if not name and not _is_name(Path(self._path).stem):
            wrong = f"'{Path(self._path).stem}' is no name of a target"
            raise RequestError(f'{self._path}: {wrong}: add name = "npu"')
        return name

    def _rule(self, number: int, table: Mapping[str, Any]) -> TargetRule:
        self._refuse_unknown(number, table, self._rule_keys)
        for key in ("operators", "answer"):
            if key not in table:
                self._refuse(number, None, f"the rule lacks '{key}'")
        operators = self._operators(number, "operators", table["operators"])
        terms = (*self._words(number, table.get("when", [])), *self._thresholds(number, table))
        plain = [name for name in _expanded(operators) if name not in (ALL, *_PADDED)]
        if plain and any(isinstance(term, str) or term[0] not in _OF_OPSET for term in terms):
            reason = f"'{plain[0]}' does not pad: only opset_above and opset_below may be asked"
            self._refuse(number, "operators", f"{reason}; write a rule of its own for it")
        return TargetRule(
            operators,
            terms,
            self._answer(number, table["answer"]),
            self._line_of_text(number, "evidence", table),
            self._line_of_text(number, "says", table),
            self._count(number, "models", table["models"]) if "models" in table else None,
            **{key: self._line_of_text(number, key, table) for key in _RULE_TEXTS},
        )

    def _operators(self, number: int | None, key: str, value: object) -> tuple[str, ...]:
        if value == ALL:
            return (ALL,)
        names = self._texts(number, key, value, f'a list of operators, or "{ALL}"')
        if number is not None and not names:
            self._refuse(number, key, "it lists no operator")
        for name in names:
            if name not in self._operators_known:
                near = nearest(name, self._operators_known)
                if number is None and not (near and _alike(name, near[0])):
                    continue  # an operator that is not judged
                meant = f"did you mean '{near[0]}'?" if near else "leave it out"
                self._refuse(number, key, f"'{name}' is no operator that is judged: {meant}")
        return names

    def _words(self, number: int, value: object) -> Iterator[Term]:
        key, names = "when", self._texts(number, "when", value, "a list of words")
        for text in names:
            name = text.removeprefix(_NEGATION).strip()
            if name in self._facts:
                yield name
                continue
            try:
                word = word_called(name)
            except RequestError as error:
                self._refuse(number, key, str(error))
            if word.takes_number:
                self._refuse(number, key, f"'{name}' needs a number: write {name} = 3 as a key")
            if text.startswith(_NEGATION) and name in names:
                self._refuse(number, key, f"'{name}' and 'not {name}' never hold together")
            yield ("not", name) if text.startswith(_NEGATION) else name

    def _thresholds(self, number: int, table: Mapping[str, Any]) -> Iterator[Term]:
        yield from ((k, self._count(number, k, table[k])) for k in table if k in _THRESHOLDS)
        if table.get("opset_above", -1) + 1 >= table.get("opset_below", 1 << 32):
            self._refuse(number, "opset_below", "no opset is above the one and below the other")

    def _answer(self, number: int, value: object) -> Answer:
        if not isinstance(value, str) or value not in tuple(Answer):
            near = nearest(str(value), tuple(Answer))
            meant = f"did you mean '{near[0]}'?" if near else f"answers are {', '.join(Answer)}"
            self._refuse(number, "answer", f"'{value}' is no answer: {meant}")
        return Answer(str(value))

    def _count(self, number: int, key: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 31:
            self._refuse(number, key, "it takes a whole number from 0 on")
        return value

    def _line_of_text(self, number: int | None, key: str, table: Mapping[str, Any]) -> str:
        value = table.get(key, "")
        if not isinstance(value, str) or not value.isprintable():
            self._refuse(number, key, "it takes one line of text")
        return value

    def _texts(self, number: int | None, key: str, value: object, wanted: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self._refuse(number, key, f"it takes {wanted}")
        if len(value) > _MOST_NAMES:
            self._refuse(number, key, f"it takes at most {_MOST_NAMES:,} of them")
        twice = [name for name, count in Counter(value).items() if count > 1]
        if twice:
            self._refuse(number, key, f"'{twice[0]}' stands there twice")
        return tuple(value)

    def _refuse_unknown(
        self, number: int | None, table: Mapping[str, Any], keys: Sequence[str]
    ) -> None:
        for key in table:
            if key in keys:
                continue
            near = nearest(key, keys)
            meant = f"did you mean '{near[0]}'?" if near else f"keys are {', '.join(keys)}"
            if number is None and key in _RULE_KEYS:
                meant = "it belongs under a line [[rule]]"
            elif number is not None and key in WORDS:
                meant = f'it takes no number: write when = ["{key}"]'
            self._refuse(number, key, f"there is no such key: {meant}")

    def _refuse(self, number: int | None, key: str | None, why: str) -> NoReturn:
        """Raise RequestError about a key of rule `number`, counted from 0, or of the file."""
        line = _line_of(self._text, number, key)
        at = f"{self._path}, line {line}" if line else self._path
        rule = "" if number is None or line else f"rule {number + 1}"
        raise RequestError(f"{', '.join(filter(None, (at, rule, key)))}: {why}")


def _alike(name: str, other: str) -> bool:
    """Whether one name is a slip of the other, and no operator beside it, as GatherND is."""
    from difflib import SequenceMatcher  # only errors need it

    return SequenceMatcher(None, name.casefold(), other.casefold()).ratio() > _SLIP


_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*rule[ \t]*\]\]", re.MULTILINE)


def _line_of(text: str, number: int | None, key: str | None) -> int | None:
    """The line, from 1, on which a key of the file or of rule `number` begins, or its header.

    None where that is not found, as in a file whose texts hold lines [[rule]].
    """
    headers = [one.start() for one in _HEADER.finditer(text)]
    if number is not None and len(headers) != len(tomllib.loads(text)["rule"]):
        return None
    begin = 0 if number is None else headers[number]
    if key is None:
        return text.count("\n", 0, begin) + 1
    found = re.compile(rf"^[ \t]*[\"']?{re.escape(key)}[\"']?\s*=", re.MULTILINE).search(
        text, begin
    )
    return None if found is None else text.count("\n", 0, found.start()) + 1
