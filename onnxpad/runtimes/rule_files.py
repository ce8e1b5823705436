"""Files of rules: what a runtime does with padding, as TOML in the words of conditions/words.

Files of users are checked, and every error names file, rule and key. Those of this package are
checked by tests; they also name sources, releases and tables that several targets share.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from onnxpad.errors import RequestError, counted, headline, nearest
from onnxpad.padding.operators import OPERATORS, Kind
from onnxpad.runtimes.conditions import plain_facts
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import (
    Answer,
    Certainty,
    Condition,
    Evidence,
    Row,
)
from onnxpad.runtimes.conditions.words import WORDS, Term, condition_of
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
_THRESHOLDS = tuple(name for name, word in WORDS.items() if word.takes_number)
_TABLES = {
    "loader": ("loader", "checks"),
    "loader of WebGPU": ("loader",),
    "CPU kernels": ("loader", "checks", "CPU kernels"),
}
"""What some names of tables stand for: several of them."""
_UNSHOWN = "small models have operators that pad, and what a rewrite writes beside them"


def own_target(path: str, is_built_in: Callable[[str], bool]) -> Target:
    """The target that a file of rules describes; its name is none of a built-in target.

    Raises RequestError for a file that cannot be read, and with rule and key for a wrong one.
    """
    return _target_of(path, _text_of(path), is_built_in)


@cache
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

    Raises RequestError with the number of the rule and the key.
    """
    try:
        table: Table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{path} is not TOML: {headline(error)}") from error
    rules = table.get("rule", [])
    if not isinstance(rules, list) or not all(isinstance(one, dict) for one in rules):
        raise RequestError(f"{path}, rule: rules are tables that begin with [[rule]]")
    _check({key: value for key, value in table.items() if key != "rule"}, _FILE_KEYS, path)
    if not rules and not table.get("takes"):
        raise RequestError(f"{path} has no rule: 'onnxpad explain own-runtime' shows one")
    name = table.get("name", "")
    if name == ALL or is_built_in(name):
        raise RequestError(f"{path}, name: '{name}' is a target of onnxpad: choose another name")
    name = name or Path(path).stem
    if not _NAME.fullmatch(name) or is_own_rules(name) or is_own_runtime(name):
        wrong = f"'{name}' is no name of a target, which has letters, digits and - . + _"
        raise RequestError(f'{path}, name: {wrong}: write name = "npu"')
    for number, rule in enumerate(rules, 1):
        where = f"{path}, rule {number}"
        _check(rule, _RULE_KEYS, where)
        if not (rule.get("operators") and "answer" in rule):
            raise RequestError(f"{where} lacks 'operators' or 'answer'")
        operators = [] if rule["operators"] == ALL else rule["operators"]
        plain = [one for one in operators if one not in _PADDED]
        if plain and ("when" in rule or _OF_NODES.intersection(rule)):
            reason = f"'{plain[0]}' does not pad: only opset_above and opset_below may be asked"
            raise RequestError(f"{where}, operators: {reason}; write a rule of its own for it")
    return table


_FILE_KEYS = {"name": str, "version": str, "takes": list}
_RULE_KEYS: Mapping[str, type] = {
    "operators": list,
    "when": list,
    "models": int,
    **dict.fromkeys(_THRESHOLDS, int),
    **dict.fromkeys(("answer", "evidence", "says", "cure"), str),
}
_OF_NODES = {*_THRESHOLDS} - {"opset_above", "opset_below"}
_PLAIN_WORDS = tuple(name for name in WORDS if name not in _THRESHOLDS)
_KNOWN = {
    "operators": (*_PADDED, *(name for name in _PLAIN if " " not in name)),
    "when": (*_PLAIN_WORDS, *(_NEGATION + name for name in _PLAIN_WORDS)),
    "answer": tuple(Answer),
}
_TAKES = {
    str: "one line of text",
    int: "a whole number from 0 on",
    list: "a list of names in quotation marks",
}


def _check(table: Table, keys: Mapping[str, type], where: str) -> None:
    """Raise RequestError for a key or a value that may not stand in a table."""
    _refuse_unknown(table, keys, where)
    for key, value in table.items():
        names = value if isinstance(value, list) else [value]
        if keys[key] is int:
            is_right = type(value) is int and 0 <= value < 1 << 31
        else:
            is_right = all(isinstance(one, str) and one.isprintable() for one in names)
            is_right &= isinstance(value, keys[key]) or (value == ALL and key != "when")
        if not is_right:
            raise RequestError(f"{where}, {key}: it takes {_TAKES[keys[key]]}, not {value!r}")
        if (key, value) != ("operators", ALL):
            _refuse_unknown(names, _KNOWN.get(key, names), f"{where}, {key}")


def _refuse_unknown(names: Iterable[str], known: Collection[str], where: str) -> None:
    for name in names:
        if name not in known:
            near = nearest(name.replace("-", "_"), known)
            meant = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
            number = f" (write {name} = 3 as a key)" if name in _THRESHOLDS else ""
            raise RequestError(f"{where}: '{name}' is none that may stand here{number}: {meant}")


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
    certainty, _, where = (rule.get("source") or source).partition(": ")
    return Row(
        operators,
        answer,
        when,
        Evidence(Certainty(certainty), where, rule["evidence"]),
        says,
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
        return (Condition(says, lambda _: True, cure=cure),), ""
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
