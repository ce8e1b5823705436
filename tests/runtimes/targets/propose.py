"""Measures a release of a runtime over the probes, and proposes the rows in which it differs.

python -m tests.runtimes.targets.propose openvino@2024.6 onnxruntime@1.20

A release is added in an hour: write requirements/releases/TARGET-RELEASE.txt (every package with
its version), add the release to the target's file, and run this. Of what the rows do not foresee it
names the models and conditions that tell them from models that are right; of rows that hold no
longer, or not yet, it says so. What becomes a row is for a person to decide.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

import onnx

from onnxpad.model.opened import open_model
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.runtimes.conditions.rows import Answer, Condition, Row, every
from onnxpad.runtimes.conditions.words import WORDS
from onnxpad.runtimes.judge import failing, judge
from onnxpad.runtimes.targets import Target, find_target
from tests.runtimes.live import RELEASES, RUNTIMES, recorded
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.judging import Outcome
from tests.runtimes.live.running import Case, outcomes
from tests.runtimes.targets import generated, probes

_SHOWN = 6


@cache
def conditions() -> dict[str, Condition]:
    """Every word without a number, and its opposite."""
    found = {}
    for name, word in WORDS.items():
        if not word.takes_number:
            one = word.condition(settled=False)
            found[name], found[f"not {name}"] = one, ~one
    return found


@cache
def chains(model: Path) -> tuple[Chain, ...]:
    """The padded nodes of a model."""
    survey = Survey(open_model(model).model, folder=model.parent)
    return tuple(chain for site in survey.sites_now() for chain in site.chains)


def proposals(target: Target, cases: Mapping[str, Case], ran: Mapping[str, Outcome]) -> list[str]:
    """What the rows get wrong, a line or a few for each operator."""
    bad = {key for key, one in ran.items() if one.verdict not in ("ok", "fallback")}
    foreseen = {key: _objections(target, cases[key]) for key in ran}
    slow = {key for key in ran if _leaves(target, cases[key])}
    missed = [key for key in ran if key in bad and not foreseen[key]]
    missed += [key for key, one in ran.items() if one.verdict == "fallback" and key not in slow]
    alarms = [key for key in ran if key not in bad and foreseen[key]]
    lines = [f"{len(ran)} models, {len(bad)} fail: {len(missed)} missed, {len(alarms)} false"]
    fine = [chain for key in ran if key not in bad for chain in chains(cases[key].model)]
    for op in dict.fromkeys(chain.op.title for key in missed for chain in _of(cases[key])):
        mine = [key for key in missed if any(c.op.title == op for c in _of(cases[key]))]
        lines += _missed(op, mine, cases, ran, [c for c in fine if c.op.title == op])
    rows = dict.fromkeys(row for key in alarms for row in foreseen[key])
    for row in rows:
        held = [key for key in ran if row in foreseen[key]]
        right = [key for key in held if key not in bad]
        verdict = "holds no more" if len(right) == len(held) else f"wrong for {len(right)}"
        lines.append(f"  {verdict} of {len(held)}: {row.answer} {row.what}: {right[:_SHOWN]}")
    return lines


def _of(case: Case) -> tuple[Chain, ...]:
    return chains(case.model)


def _leaves(target: Target, case: Case) -> bool:
    answers = {judge(target, chain).answer for chain in _of(case)}
    return any(one.fails or one is Answer.FALLS_BACK for one in answers)


def _objections(target: Target, case: Case) -> tuple[Row, ...]:
    return tuple(dict.fromkeys(row for chain in _of(case) for row in failing(target, chain)))


def _missed(
    op: str,
    keys: Sequence[str],
    cases: Mapping[str, Case],
    ran: Mapping[str, Outcome],
    fine: Sequence[Chain],
) -> Iterator[str]:
    yield f"  {op}: {len(keys)} not foreseen"
    for key in keys[:_SHOWN]:
        words = " ".join(ran[key].message.split())[:110]
        yield f"    {key} {ran[key].verdict}: {_attributes(cases[key], op)} {words}"
    left = [[c for c in _of(cases[key]) if c.op.title == op] for key in keys]
    while left:
        names, told = _best(left, fine)
        if not told:
            yield f"    nothing tells {len(left)} of them from {len(fine)} that are right"
            return
        yield f"    {' and '.join(names)} hold for {told}, and for nothing that is right"
        left = [group for group in left if not _holds(names, group)]


def _best(left: Sequence[Sequence[Chain]], fine: Sequence[Chain]) -> tuple[tuple[str, ...], int]:
    """The fewest conditions that hold for most of `left`, and nowhere in `fine`."""
    everything = [(name,) for name in conditions()]
    telling = [name for (name,) in everything if any(_holds((name,), group) for group in left)]
    for number in (1, 2, 3):
        tried = combinations(telling, number) if number > 1 else ((name,) for name in telling)
        found = [
            (sum(_holds(names, group) for group in left), names)
            for names in tried
            if not any(_every(names, chain) for chain in fine)
        ]
        if found:
            told, names = max(found, key=lambda pair: pair[0])
            if number == 2 or told == len(left):
                return names, told
    return (), 0


@cache
def _every(names: tuple[str, ...], chain: Chain) -> bool:
    return bool(every(tuple(conditions()[name] for name in names), chain))


def _holds(names: tuple[str, ...], group: Sequence[Chain]) -> bool:
    return any(_every(names, chain) for chain in group)


def _attributes(case: Case, op: str) -> str:
    for node in onnx.load(case.model, load_external_data=False).graph.node:
        if node.op_type == op.rpartition(".")[2]:
            given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            return ", ".join(f"{name}={value}" for name, value in given.items())
    return ""


def main(arguments: list[str]) -> int:
    """Measure each release and print what is proposed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help=", ".join(RUNTIMES | RELEASES))
    parser.add_argument("--drawn", type=int, default=0, metavar="N", help="N models drawn as well")
    parser.add_argument("--seed", type=int, default=generated.SEED, help="of those")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        cases = {k: one for k, one in recorded.probes().items() if k not in probes.DISPUTED}
        cases |= generated.cases(Path(folder), given.drawn, seed=given.seed) if given.drawn else {}
        for name in given.names:
            try:
                ran = outcomes((RUNTIMES | RELEASES)[name], cases)
            except Unavailable as reason:
                print(f"{name}: not here: {reason}", flush=True)
                continue
            print(f"{name}: " + "\n".join(proposals(find_target(name), cases, ran)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
