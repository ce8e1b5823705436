"""Files of rules: what a runtime does with padding, as TOML in the words of conditions/words.

Files of users are checked, and every error names file, line and key. Those of this package are
checked by tests; they also name sources, releases and tables that several targets share.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
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

Table = Mapping[str, Any]
"""A file of rules, or a rule, as TOML has it."""
ALL = "all"
LARGEST = 1 << 20
_NEGATION = "not "
_NAME = re.compile(r"\w[\w.+-]*")
_PADDED = tuple(op.title for op in OPERATORS.values())
_PLAIN = tuple(
    dict.fromkeys((*plain_facts.WRITTEN, *plain_facts.BRANCH, *plain_facts.COMPUTED_BRANCH))
)
"""What a rewrite writes beside padded operators, and If."""


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
    "every other": tuple(
        one for one in _PADDED if one not in (*_CONVOLUTIONS, *_POOLS, *_of_kinds(Kind.PAD))
    ),
    "every padded": _PADDED,
}
"""Names that stand for several operators in the files of this package."""
_OPERATORS = (*_PADDED, *(name for name in _PLAIN if " " not in name))
_THRESHOLDS = tuple(name for name, word in WORDS.items() if word.takes_number)
_OF_NODES = {*_THRESHOLDS} - {"opset_above", "opset_below"}
_RULE_KEYS = ("operators", "when", "answer", "evidence", "says", "cure", "models", *_THRESHOLDS)
_FILE_KEYS = ("name", "version", "takes", "rule")
_TABLES = {
    "loader": ("loader", "checks"),
    "loader of WebGPU": ("loader",),
    "CPU kernels": ("loader", "checks", "CPU kernels"),
}
"""What some names of tables stand for: several of them."""
_UNSHOWN = "small models have operators that pad, and what a rewrite writes beside them"


def own_target(path: str, is_built_in: Callable[[str], bool]) -> Target:
    """The target that a file of rules describes; its name is none of a built-in target.

    Raises RequestError for a file that cannot be read, and with line and key for a wrong one.
    """
    return _target_of(path, _text_of(path), is_built_in)


def built_in_target(file: Path) -> Target:
    """The target that a file of this package describes; its name is that of the file."""
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    source = table.get("source") or f"{Certainty.MEASURED}: {table['version']}"
    releases = tuple(table.get("releases", ()))
    rows = (
        *(_built_in_row(rule, source) for rule in table["rule"]),
        *_shared_rows(table.get("shared", ()), source, releases),
    )
    return Target(
        table["version"],
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


def _shared_rows(tables: Sequence[Table], source: str, releases: Sequence[str]) -> Iterator[Row]:
    """Rows of tables that several targets include: those of onnxruntime.

    Evidence names the product, and the last of its releases that was run.
    """
    from onnxpad.runtimes.onnxruntime.facts import FACTS, TABLES  # few files include tables

    for one in tables:
        own, last = one.get("source", source), one.get("until", "")
        plain = ("windows", "LpPool") if one["table"].startswith("loader") else ()
        about = _expanded(one.get("operators", plain))
        for rule in TABLES["rule"]:
            if rule["table"] not in _TABLES.get(one["table"], (one["table"],)):
                continue
            until = last if rule.get("until") == "last" else rule.get("until", "")
            known = [one for one in releases if until and numbers(one) <= numbers(until)]
            release = max(known or releases[:1], key=numbers, default="")
            told = rule.get("source", own).format(product=own.partition(": ")[2], release=release)
            row = _built_in_row({**rule, "until": until, "source": told}, own, FACTS)
            names = tuple(name for name in row.operators if not about or name in about)
            ended = until and releases and numbers(until) < numbers(releases[0])
            if names and not ended:
                yield replace(row, operators=names)


def read_rules(text: str, path: str, is_built_in: Callable[[str], bool] = lambda _: False) -> Table:
    """The table that TOML text of a user holds, checked; `path` names it in errors.

    Raises RequestError with line and key.
    """
    return _Checks(text, path, is_built_in).table


def rules_text(table: Table) -> str:
    """A table as TOML text that `read_rules` reads back to an equal one."""
    rules = ["\n".join(["", "[[rule]]", *_lines(rule)]) for rule in table["rule"]]
    head = {key: value for key, value in table.items() if key != "rule"}
    return "\n".join([*_lines(head), *rules]) + "\n"


def _lines(table: Table) -> Iterator[str]:
    for key, value in table.items():
        if value or value == 0:
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _text_of(path: str) -> str:
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(LARGEST + 1)
        text = data.decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise RequestError(f"{path}, line {line}: the text is not UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RequestError(f"cannot read the target '{path}': {reason}") from error
    if len(data) > LARGEST:
        raise RequestError(f"cannot read the target '{path}': it has more than {LARGEST:,} bytes")
    return text


@lru_cache(maxsize=16)
def _target_of(path: str, text: str, is_built_in: Callable[[str], bool]) -> Target:
    table = read_rules(text, path, is_built_in)
    stem, rules = Path(path).stem, table.get("rule", [])
    name = table.get("name") or (f"own-{stem}" if stem == ALL or is_built_in(stem) else stem)
    rows = tuple(_own_row(number, rule, path) for number, rule in enumerate(rules, 1))
    if takes := table.get("takes"):
        is_measured = any("models" in rule for rule in rules)
        certainty = Certainty.MEASURED if is_measured else Certainty.DOCUMENTED
        everything = (*_PADDED, *_PLAIN) if takes == ALL else _spelled_out(takes)
        rows = (Row(everything, Answer.TAKES, (), Evidence(certainty, path, "takes")), *rows)
    text = f"A target of your own.\n\n{counted(len(rules), 'rule')} from {path}."
    return Target(table.get("version") or path, rows, name=name, text=text)


def _own_row(number: int, rule: Table, path: str) -> Row:
    models = counted(rule["models"], "model") if "models" in rule else ""
    certainty = Certainty.MEASURED if models else Certainty.DOCUMENTED
    what = ", ".join(filter(None, (rule.get("evidence"), models))) or f"rule {number}"
    operators = _PADDED if rule["operators"] == ALL else _spelled_out(rule["operators"])
    when, says = _conditions(rule)
    evidence = Evidence(certainty, path, what)
    return Row(operators, Answer(rule["answer"]), when, evidence, says)


def _built_in_row(
    rule: Table, source: str, facts: Mapping[str, Condition] = MappingProxyType({})
) -> Row:
    when, says = _conditions(rule, facts, settled=False)
    operators, answer = _expanded(rule["operators"]), Answer(rule["answer"])
    is_beside = not any(name in _PADDED for name in operators)
    loses_shape = answer is Answer.MISCOMPUTES and any(one.of_windows for one in when)
    certainty, _, where = (rule.get("source") or source).partition(": ")
    return Row(
        operators,
        answer,
        when,
        Evidence(Certainty(certainty), where, rule["evidence"]),
        says,
        rule.get("does") or (OTHER_SHAPE if loses_shape else ""),
        rule.get("since", ""),
        rule.get("until", ""),
        rule.get("unshown") or (_UNSHOWN if is_beside and answer.fails else ""),
    )


def _conditions(
    rule: Table, facts: Mapping[str, Condition] = MappingProxyType({}), *, settled: bool = True
) -> tuple[tuple[Condition, ...], str]:
    """The conditions of a rule, with its cure, and what it says besides."""
    when = tuple(
        facts[term]
        if isinstance(term, str) and term in facts
        else condition_of(term, settled=settled)
        for term in terms_of(rule)
    )
    says, cure = rule.get("says", ""), rule.get("cure", "")
    if cure and not when:
        return (Condition.remedy(says, cure),), ""
    return ((replace(when[0], cure=cure), *when[1:]) if cure else when), says


def terms_of(rule: Table) -> Iterator[Term]:
    """The words of a rule, and its numbers."""
    for text in rule.get("when", ()):
        yield ("not", text[len(_NEGATION) :]) if text.startswith(_NEGATION) else text
    yield from ((key, rule[key]) for key in rule if key in _THRESHOLDS)


def _expanded(operators: Iterable[str]) -> tuple[str, ...]:
    """The operators that names of them and of groups stand for."""
    return tuple(one for name in operators for one in GROUPS.get(name, (name,)))


def _spelled_out(operators: Iterable[str]) -> tuple[str, ...]:
    """The operators with every name that onnxpad has for one of them: 'Slice of an input'."""
    names = set(operators)
    return (*operators, *(name for name in _PLAIN if not names.isdisjoint(name.split())))


class _Checks:
    """A file of a user; every error of it names the line of a key."""

    def __init__(self, text: str, path: str, is_built_in: Callable[[str], bool]) -> None:
        self._text, self._path = text.replace("\r\n", "\n"), path
        try:
            self.table: Table = tomllib.loads(self._text)
        except (ValueError, RecursionError) as error:
            raise RequestError(f"{path} is not TOML: {headline(error)}") from error
        table = self.table
        self._keys(None, table, _FILE_KEYS)
        rules = table.get("rule", [])
        if not isinstance(rules, list) or not all(isinstance(one, dict) for one in rules):
            self._refuse(None, "rule", "rules are tables that begin with [[rule]]")
        if not rules and not table.get("takes"):
            raise RequestError(f"{path} has no rule: 'onnxpad explain own-runtime' shows one")
        if table.get("takes") != ALL:
            self._texts(None, "takes", table)
        self._line(None, "version", table)
        self._name(self._line(None, "name", table), is_built_in)
        for number, rule in enumerate(rules):
            self._rule(number, rule)

    def _name(self, name: str, is_built_in: Callable[[str], bool]) -> None:
        if name == ALL or (name and is_built_in(name)):
            self._refuse(None, "name", f"'{name}' is a target of onnxpad: choose another name")
        name = name or Path(self._path).stem
        if not _NAME.fullmatch(name) or is_own_rules(name) or is_own_runtime(name):
            wrong = f"'{name}' is no name of a target, which has letters, digits and - . + _"
            self._refuse(None, "name", f'{wrong}: write name = "npu"')

    def _rule(self, number: int, rule: Table) -> None:
        self._keys(number, rule, _RULE_KEYS)
        for key in ("operators", "answer"):
            if key not in rule:
                self._refuse(number, None, f"the rule lacks '{key}'")
        operators = rule["operators"]
        if operators != ALL:
            for name in self._texts(number, "operators", rule) or [""]:
                self._known(number, "operators", name, _OPERATORS)
        self._known(number, "answer", rule["answer"], tuple(Answer))
        self._words(number, self._texts(number, "when", rule))
        for key in (*_THRESHOLDS, "models"):
            count = rule.get(key, 0)
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < 1 << 31:
                self._refuse(number, key, "it takes a whole number from 0 on")
        for key in ("evidence", "says", "cure"):
            self._line(number, key, rule)
        plain = [name for name in operators if name not in _PADDED] if operators != ALL else []
        if plain and ("when" in rule or _OF_NODES.intersection(rule)):
            reason = f"'{plain[0]}' does not pad: only opset_above and opset_below may be asked"
            self._refuse(number, "operators", f"{reason}; write a rule of its own for it")

    def _words(self, number: int, words: Sequence[str]) -> None:
        for text in words:
            name = text.removeprefix(_NEGATION)
            try:
                word_called(name)
            except RequestError as error:
                self._refuse(number, "when", str(error))
            if name in _THRESHOLDS:
                self._refuse(number, "when", f"'{name}' takes a number: write {name} = 3 as a key")
            if text != name and name in words:
                self._refuse(number, "when", f"'{name}' and '{text}' never hold together")

    def _line(self, number: int | None, key: str, table: Table) -> str:
        text = table.get(key, "")
        if not isinstance(text, str) or not text.isprintable():
            self._refuse(number, key, "it takes one line of text")
        return text

    def _texts(self, number: int | None, key: str, table: Table) -> Sequence[str]:
        texts: Sequence[str] = table.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
            self._refuse(number, key, "it takes a list of names in quotation marks")
        return texts

    def _keys(self, number: int | None, table: Table, keys: Sequence[str]) -> None:
        for key in table:
            self._known(number, key, key, keys)

    def _known(self, number: int | None, key: str, name: object, known: Sequence[str]) -> None:
        if name not in known:
            near = nearest(str(name), known)
            meant = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
            self._refuse(number, key, f"'{name}' is none that may stand here: {meant}")

    def _refuse(self, number: int | None, key: str | None, why: str) -> NoReturn:
        """Raise RequestError about a key of rule `number`, counted from 0, or of the file."""
        line = _line_of(self._text, number, key)
        at = f"{self._path}, line {line}" if line else self._path
        rule = "" if number is None or line else f"rule {number + 1}"
        raise RequestError(f"{', '.join(filter(None, (at, rule, key)))}: {why}")


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
    at = re.compile(rf"^[ \t]*[\"']?{re.escape(key)}[\"']?\s*=", re.MULTILINE).search(text, begin)
    return None if at is None else text.count("\n", 0, at.start()) + 1
