"""Reproducers: the smallest model, input and script that show what a runtime gets wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from onnxpad import processes
from onnxpad.errors import RequestError, nearest
from onnxpad.model.assembled import Array, with_output_shapes
from onnxpad.model.files.folders import refuse_folder
from onnxpad.model.opened import Model, ModelLike
from onnxpad.probing.expected import Expected, expected, onnxruntime_agrees
from onnxpad.reproducing.cutting import Cut, cut_out
from onnxpad.reproducing.reproducer import FILES, Reproducer
from onnxpad.reproducing.search import chains_of, falls_under, smallest
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.rewriting.for_target.names import target_asked
from onnxpad.runtimes.conditions.rows import Answer, Row
from onnxpad.runtimes.judge import Judgement, failing
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.releases import rows_in
from onnxpad.runtimes.targets import Target, find_target
from onnxpad.verbs import is_text, refuse_unless, verb

SEEN = Path(__file__).parent / "seen.json"
"""What runtimes did with the scripts of their rows: `python -m tests.reproducing` writes it."""


def reproduce(target: str, row: str) -> Reproducer:
    """The smallest model that falls under one row of a target.

    `row` is an address as `explain TARGET` prints it. Of a row of older releases the newest one
    in which it holds is meant. Raises RequestError with the nearest addresses where there is none
    of this name, and where no small model falls under it.
    """
    refuse_unless(is_text, "a name", "target", target)
    refuse_unless(is_text, "a name", "row", row)
    found = target_asked(target)
    rows = found.failures
    if row not in rows:
        raise _no_row(found, row)
    made = specimen(found, row)
    if made is None:
        said = f"no small model of one operator falls under '{row}' of {found.name}"
        raise RequestError(f"{said}: {rows[row].unshown or rows[row].what}")
    return made


def specimen(target: Target, address: str) -> Reproducer | None:
    """The same for a row that is there; None where no small model falls under it."""
    row = target.failures[address]
    meant = in_its_release(target, row)
    one = seen_words(meant, address, row) or smallest(meant, row)
    return None if one is None else showing(target, address, one)


def showing(target: Target, address: str, one: Specimen) -> Reproducer:
    """The reproducer of a row with this model."""
    row = target.failures[address]
    meant = in_its_release(target, row)
    others = {other for chain in chains_of(one) for other in failing(meant, chain)} - {row}
    about = tuple(f"it {other.answer.does} as well: {other.what}" for other in others)
    return _of_row(meant, address, row, drafted(one), about)


def _of_row(
    meant: Target,
    address: str,
    row: Row,
    kept: tuple[Model, Mapping[str, Array]],
    about: tuple[str, ...],
) -> Reproducer:
    ran = last_run(meant.name, address)
    about += (f"its script was run, and {ran}",) if ran else ()
    command = f"onnxpad explain {meant.name} --reproduce {address} -o DIR"
    made = _reproducer(meant, (address, row), kept, about, command)
    return replace(made, shown=_verdict(meant.name, address) != _NOT_SHOWN)


_NOT_SHOWN = "not shown"
_DID = {
    "wrong": "computed something else",
    "refused": "stopped with an error",
    "crash": "ended the process",
    "timeout": "did not end",
    _NOT_SHOWN: "was right, with other small models of this kind as well",
}
"""What a runtime did with a reproducer."""


def last_run(target: str, address: str) -> str:
    """What a runtime did when the reproducer of a row was run in it last; empty if it never was."""
    verdict = _verdict(target, address)
    return f"{_seen()[target]['version']} {_DID[verdict]}" if verdict else ""


def _verdict(target: str, address: str) -> str:
    verdict: str = all_seen(target).get(address, {}).get("verdict", "")
    return verdict


def seen_words(target: Target, address: str, row: Row) -> Specimen | None:
    """The model that was seen to show it where the smallest one does not; it must still fit."""
    words = all_seen(target.runtime).get(address, {}).get("words")
    if words is None:
        return None
    lists = {name: tuple(value) for name, value in words.items() if isinstance(value, list)}
    value = {"value": float(words["value"])} if "value" in words else {}
    one = Specimen(**(words | lists | value))
    return one if falls_under(target, row, one) else None


def all_seen(target: str) -> Mapping[str, Mapping[str, Any]]:
    """By address what a run showed, and the words of the model that showed it."""
    rows: Mapping[str, Mapping[str, Any]] = _seen().get(target, {}).get("rows", {})
    return rows


@cache
def _seen() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(SEEN.read_text("utf-8"))
    return found


@verb()
def reproduce_node(
    model: ModelLike,
    *,
    target: str,
    node: str,
    dims: Mapping[str, int | str] | None = None,
    timeout: float | None = None,
    memory: int | str | None = None,
) -> Reproducer:
    """A node of a model that a target refuses or computes wrongly, cut out with its padding.

    `node` is its address, or a glob that matches one alone. Weights of more than 64 kB are replaced
    by small whole numbers. Raises RequestError where the target takes the node or nothing is known
    of it, and where several nodes match.
    """
    refuse_unless(is_text, "an address", "node", node)
    found = target_asked(target)
    with processes.limited(timeout, memory):
        part: Cut = cut_out(model, found, node, dims)
        rows = part.judgement.rows
        address = next((name for name, row in found.failures.items() if row in rows), "")
        if not address:
            raise RequestError(
                f"{part.label}: {_nothing_to_show(found.name, part.judgement)}; what only a run of "
                "the runtime shows is not written"
            )
        command = (
            f"onnxpad inspect MODEL --target {asked_as(found.name)} --reproduce '{node}' -o DIR"
        )
        kept = part.model, part.inputs
        return _reproducer(found, (address, rows[0]), kept, part.about, command)


def _nothing_to_show(target: str, judgement: Judgement) -> str:
    reason = f": {judgement.reason}" if judgement.reason else ""
    if judgement.answer is Answer.UNKNOWN:
        return f"the table of {target} knows nothing of it{reason}"
    return f"by its table {target} {judgement.answer.does}{reason}"


def _reproducer(
    target: Target,
    fact: tuple[str, Row],
    kept: tuple[Model, Mapping[str, Array]],
    about: tuple[str, ...],
    command: str,
) -> Reproducer:
    address, row = fact
    model, feeds = kept
    right: Expected = expected(model, feeds)
    if right.reason:
        about = (*about, f"the ONNX text gives it no meaning: {right.reason}")
    return Reproducer(
        target.name,
        target.version,
        address,
        str(row.answer),
        row.what,
        str(row.evidence),
        with_output_shapes(model, right.outputs),
        feeds,
        right.outputs,
        onnxruntime_agrees(model, feeds, right.outputs),
        about,
        command=command,
    )


def in_its_release(target: Target, row: Row) -> Target:
    """The target in the newest release in which the row holds."""
    holders = [part for part in target.parts or (target,) if row in part.rows]
    if holders or not row.until:
        return holders[0] if holders else target
    found = find_target(f"{target.runtime}@{row.until}")  # perhaps older than all that are known
    return found if row in found.rows else replace(found, rows=rows_in(found.history, (row.until,)))


def _no_row(target: Target, row: str) -> RequestError:
    known = list(target.failures)
    if not known:
        return RequestError(f"{target.name} has no fact about anything that it gets wrong")
    near = nearest(row, known, 3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there is '{known[0]}'"
    return RequestError(
        f"{target.name} has no fact '{row}': {hint} "
        f"(onnxpad explain {asked_as(target.name)} prints all)"
    )


__all__ = [
    "FILES",
    "SEEN",
    "Reproducer",
    "all_seen",
    "last_run",
    "refuse_folder",
    "reproduce",
    "reproduce_node",
    "showing",
]
