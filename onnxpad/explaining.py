"""explain: what a topic, pass, target, form, operator, convention or trap is."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from onnxpad.errors import RequestError, nearest
from onnxpad.frameworks.choices import Fill, Role
from onnxpad.frameworks.conventions import Convention, all_conventions, by_name_and_alias
from onnxpad.padding.forms import MEANING, Form
from onnxpad.padding.operators import OPERATORS, Kind, Operator
from onnxpad.reports import Report, reported
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.recipes import ADVICE, RECIPES
from onnxpad.runtimes.conditions.words import SECTIONS, WORDS
from onnxpad.runtimes.own_targets import EXAMPLE, asked_as, is_own_rules
from onnxpad.runtimes.releases import held
from onnxpad.runtimes.running.headers import headers_of
from onnxpad.runtimes.targets import Target, all_targets, find_target
from onnxpad.runtimes.traps import all_rules
from onnxpad.verbs import is_text, refuse_unless

KINDS = ("topic", "pass", "target", "form", "operator", "convention", "trap")


@reported("kind", "name", "text", "facts_by_name as facts", "source")
@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Report):
    """One entry of `explain`; `source` says where its text and facts come from."""

    kind: str
    name: str
    text: str
    facts: tuple[tuple[str, str], ...] = ()
    source: str = ""

    schema = 2

    @property
    def headline(self) -> str:
        """The first sentence of the text."""
        paragraph = " ".join(self.text.split("\n\n", maxsplit=1)[0].split())
        return paragraph.split(". ", maxsplit=1)[0].rstrip(".")

    def about(self, word: str) -> Explanation:
        """This entry with the facts that contain `word` only. Raises RequestError if none does."""
        is_there = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE).search
        matching = tuple(fact for fact in self.facts if is_there(fact[1]))
        if not matching:
            words = {text.strip("[](),:;") for _, value in self.facts for text in value.split()}
            near = "".join(f": did you mean '{name}'?" for name in nearest(word, words))
            raise RequestError(f"no fact about {self.name} has the word '{word}'{near}")
        return replace(self, facts=matching)

    @property
    def facts_by_name(self) -> dict[str, str]:
        """The facts, those of one name together."""
        found: dict[str, str] = {}
        for name, value in self.facts:
            found[name] = f"{found[name]}; {value}" if name in found else value
        return found


def entries() -> tuple[Explanation, ...]:
    """Everything that can be explained, kind by kind."""
    return tuple(_entries())


def explain(name: str) -> tuple[Explanation, ...]:
    """The entries called `name`, whatever their kind; capitals do not matter.

    Frameworks and targets answer to their other names too ("tf", "trt"), and a topic to the words
    that it explains ("rounding"), where nothing else has that name; a target with a release
    ("openvino@2024.6") has the facts of that release. The address of a fact
    ("same-convtranspose") is explained for each target that has it, a word of files of rules
    ("pad_above") and the code of a finding ("npu:refused") as well.

    Raises RequestError with the nearest names where there is none.
    """
    refuse_unless(is_text, "a name", "name", name)
    if "@" in name or is_own_rules(name):
        return (_target_entry(find_target(name)),)
    everything = entries()
    found = tuple(entry for entry in everything if entry.name == name)
    found = found or tuple(e for e in everything if e.name.casefold() == name.casefold())
    if not found:
        found = tuple(e for e in everything if (e.kind, e.name) in _called(name.casefold()))
    found = found or (*_facts_called(name.casefold()), *_told_besides(name))
    if found:
        return found
    near = nearest(name, (entry.name for entry in everything), 3)
    hint = f"did you mean {' or '.join(repr(match) for match in near)}?" if near else "see the list"
    raise RequestError(f"nothing is called '{name}': {hint} (onnxpad explain shows all names)")


def _facts_called(address: str) -> Iterator[Explanation]:
    """The fact of this address, one for each target that has it."""
    for target in all_targets().values():
        row = target.failures.get(address)
        if row is not None:
            command = f"onnxpad explain {asked_as(target.name)} --reproduce {address} -o DIR"
            shown = f"no small model: {row.unshown}" if row.unshown else command
            facts = [("known from", str(row.evidence)), ("to see it", shown)]
            if told := held(row):
                facts.insert(0, ("releases", told))
            text = f"{target.name} {row.answer} {row.what}."
            yield Explanation("fact", f"{target.name}: {address}", text, tuple(facts))


def _told_besides(name: str) -> Iterator[Explanation]:
    """A word of files of rules, or what `inspect` found a target to do."""
    if word := WORDS.get(name.casefold().replace("-", "_")):
        use = f"{word.name} = 3" if word.takes_number else f'when = ["{word.name}"]'
        facts = (("in a file of rules", use), ("all words", "onnxpad explain conditions"))
        says, otherwise = word.says.format("N"), word.otherwise.format("N")
        text = f"It holds if {says}. Its opposite: {otherwise}."
        yield Explanation("condition", word.name, text, facts)
    target, _, kind = name.rpartition(":")
    if target and kind in _FINDINGS:
        more = " --require-device" if kind == "fallback" else ""
        facts = (
            ("its rules", f"onnxpad explain {target}, or the path of your own .toml"),
            ("what helps", f"onnxpad rewrite MODEL --target {target}{more}, or your own file"),
        )
        text = f"What inspect calls a node that is {kind} for {target}: its line says why."
        yield Explanation("finding", name, text, facts)


_FINDINGS = ("fallback", "unknown", "refused", "wrong")


def _called(name: str) -> set[tuple[str, str]]:
    """Kinds and names of what people call otherwise as well."""
    found = {("target", one.name) for one in all_targets().values() if name in one.also}
    found |= {("topic", topic) for topic, words in _names()["words"].items() if name in words}
    found |= {(kind, own) for kind, own in _names()["besides"].get(name.removeprefix("--"), ())}
    framework = by_name_and_alias().get(name)
    return found | ({("convention", framework.name)} if framework else set())


def _entries() -> Iterator[Explanation]:
    yield from map(_topic, sorted(_TOPICS.glob("*.txt")))
    for rule in all_passes().values():
        facts = [("removes", _forms(rule.removes)), ("may add", _forms(rule.adds))]
        if rule.may_remove:
            facts.insert(1, ("may remove", _forms(rule.may_remove)))
        yield Explanation("pass", rule.name, rule.text, tuple(facts))
    for target in all_targets().values():
        yield _target_entry(replace(target, rows=target.history))
    for form, meaning in MEANING.items():
        yield Explanation("form", str(form), meaning, tuple(_passes_about(form)))
    for op in OPERATORS.values():
        yield _operator_entry(op)
    for convention in all_conventions().values():
        about = tuple(_convention_facts(convention))
        yield Explanation("convention", convention.name, convention.text, about, convention.source)
    for name, placement in _names()["placements"].items():
        yield Explanation("convention", name, placement["text"], (), placement["source"])
    for trap in all_rules().values():
        helping = (("removed by", ", ".join(trap.passes)),) if trap.passes else ()
        yield Explanation("trap", trap.code, trap.text, helping, trap.source)


_TOPICS = Path(__file__).parent / "topics"
_MEASURED = Path(__file__).parent / "runtimes" / "measured.json"


@cache
def _names() -> dict[str, Any]:
    """Words that topics explain, and conventions that are no framework."""
    return tomllib.loads((_TOPICS / "names.toml").read_text(encoding="utf-8"))


def _topic(path: Path) -> Explanation:
    """A text of its own; a line such as '{passes}' stands for a table of the code."""
    text = path.read_text(encoding="utf-8").rstrip()
    for name, rows in _TABLES.items():
        if f"{{{name}}}" in text:
            table = "\n".join(f"| {' | '.join(row)} |" for row in rows())
            text = text.replace(f"{{{name}}}", table)
    return Explanation("topic", path.stem, text)


def _recipe_rows() -> Iterator[tuple[str, ...]]:
    yield "what you want", "options"
    for recipe in RECIPES:
        yield recipe.job, recipe.options


def _pass_rows() -> Iterator[tuple[str, ...]]:
    yield "pass", "what it does", "removes", "may add"
    for rule in all_passes().values():
        yield rule.name, _first_line(rule.text), _forms(rule.removes), _forms(rule.adds)


def _target_rows() -> Iterator[tuple[str, ...]]:
    yield "target", "what it is", "version", "known from"
    for target in all_targets().values():
        kinds = Counter(str(row.evidence.certainty) for row in target.rows)
        known = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
        yield target.name, _first_line(target.text), target.version, known


def _operator_rows() -> Iterator[tuple[str, ...]]:
    groups: dict[tuple[str, str], list[str]] = {}
    for row in OPERATORS.values():
        kind = "left alone" if row.why_left_alone else str(row.kind)
        groups.setdefault((row.domain or "ai.onnx", kind), []).append(row.name)
    yield "domain", "kind", "operators"
    for (domain, kind), names in groups.items():
        yield domain, kind, ", ".join(names)


def _condition_rows() -> Iterator[tuple[str, ...]]:
    yield "word", "it holds if"
    for section, words in SECTIONS.items():
        yield f"({section})", ""
        for word in words:
            yield f"{word.name} = N" if word.takes_number else word.name, word.says.format("N")


_SETS = {"probes": "probes", "drawn": "drawn models", "corpus": "real models"}


def _measured_rows() -> Iterator[tuple[str, ...]]:
    """One for each runtime: models that are right before and after, and those with no way."""
    found = json.loads(_MEASURED.read_text(encoding="utf-8"))
    yield "runtime", *_SETS.values()
    for name in all_targets():
        cells = [_measured(found[kind].get(name)) for kind in _SETS]
        if any(cell != "-" for cell in cells):
            yield name, *cells


def _measured(row: dict[str, int] | None) -> str:
    if row is None:
        return "-"
    return f"{row['before']} to {row['after']} of {row['models']}, no way {row['no way']}"


def _first_line(text: str) -> str:
    return text.splitlines()[0].rstrip(".")


_TABLES: dict[str, Callable[[], Iterator[tuple[str, ...]]]] = {
    "recipes": _recipe_rows,
    "passes": _pass_rows,
    "targets": _target_rows,
    "measured": _measured_rows,
    "operators": _operator_rows,
    "conditions": _condition_rows,
}


def _target_entry(target: Target) -> Explanation:
    facts = (*_target_head(target), *_target_rules(target))
    return Explanation("target", target.name, target.text, facts, target.version)


def _target_head(target: Target) -> Iterator[tuple[str, str]]:
    """What holds for all of its rows."""
    yield "order", "if several rules match, the most severe applies"
    if target.releases:
        engine = f", with {target.engine}" if target.engine else ""
        yield "releases", ", ".join(target.releases) + engine
    if target.before:
        before = find_target(target.before)
        older = " and ".join(one for one in before.releases if one not in target.releases)
        yield "older releases", f"{target.before}, which is {before.engine}: {older} have no other"
    if target.note:
        yield "note", target.note
    yield from (("live", text) for text in _ways_to_run(target))


def _ways_to_run(target: Target) -> Iterator[str]:
    """What is installed for a live run, and how it is asked for; nothing for what is no runtime."""
    for header in headers_of(target.runtime):
        where, live = "here or for another Python", "--live, or --live PYTHON"
        if header.is_javascript:
            where, live = "in a FOLDER", "--live FOLDER"
        needs = f"; needs {' and '.join(header.programs)} on the PATH" if header.programs else ""
        precision = f"; {header.precision}" if header.precision else ""
        yield f"{header.install}, {where}; then --target {target.name} {live}{needs}{precision}"
    if not headers_of(target.runtime) and target.runtime != "portable":
        yield f"nothing here starts it; a program of yours may: --target '{EXAMPLE}'"


def _target_rules(target: Target) -> Iterator[tuple[str, str]]:
    """Its rows, the worst first; what it gets wrong stands behind its address.

    A row that takes operators leaves out those that another never takes.
    """
    asked = "@" in target.name
    always = [row for row in target.rows if asked or not (row.since or row.until)]
    blanket = [row for row in always if row.answer.fails and not row.when]
    never = {operator for row in blanket for operator in row.operators}
    addresses = {row: f"{address}: " for address, row in target.failures.items()}
    for row in sorted(target.rows, key=lambda row: -row.answer.rank):
        left = tuple(one for one in row.operators if row.answer.fails or one not in never)
        if left:
            what = replace(row, operators=left).what
            known = "; ".join(filter(None, (held(row), str(row.evidence))))
            yield str(row.answer), f"{addresses.get(row, '')}{what} [{known}]"


def _convention_facts(convention: Convention) -> Iterator[tuple[str, str]]:
    for layer in convention.layers:
        words = ", ".join(word.name for word in layer.words if word.role is not Role.LABEL)
        yield layer.op, f"{words} ({layer.evidence})"
    if fills := [str(fill) for fill in Fill if fill in convention.pads_apart]:
        yield "layer that pads alone", ", ".join(fills)


def _passes_about(form: Form) -> Iterator[tuple[str, str]]:
    removing = [rule.name for rule in all_passes().values() if form in rule.removes]
    adding = [rule.name for rule in all_passes().values() if form in rule.adds]
    sometimes = [rule.name for rule in all_passes().values() if form in rule.may_remove]
    yield "removed by", ", ".join(removing) or "no pass"
    if sometimes:
        yield "sometimes by", ", ".join(sometimes)
    if adding:
        yield "may come from", ", ".join(adding)
    if form in ADVICE:
        yield "try", ADVICE[form]
    for recipe in RECIPES:
        if form in recipe.forms:
            yield "try", f"{recipe.options}: {recipe.job}"


def _operator_entry(op: Operator) -> Explanation:
    """What an operator pads and with what; the sentences stand in names.toml, by kind."""
    entry = _names()["operators"][str(op.kind)]
    text = entry["text"]
    if op.why_left_alone:
        text = f"Its padding is shown and never rewritten: {op.why_left_alone}."
    if op.kind is Kind.PAD:
        facts = entry["com.microsoft" if op.domain else "facts"]
        return Explanation("operator", op.title, text, tuple(map(tuple, facts)), op.source)
    cells = entry["cells"] if op.zero_point is None else f"the zero point, input {op.zero_point}"
    facts = (
        ("auto_pad", "yes" if op.auto_pad else "no"),
        ("ceil_mode", f"since opset {op.ceil_mode}" if op.ceil_mode else ""),
        ("dilations", f"since opset {op.dilations}" if op.dilations > 1 else ""),
        ("padded cells hold", cells),
    )
    told_facts = tuple((name, value) for name, value in facts if value)
    return Explanation("operator", op.title, text, told_facts, op.source)


def _forms(forms: frozenset[Form]) -> str:
    return ", ".join(str(form) for form in Form if form in forms) or "none"
