"""Reproducers: the smallest model, input and script that show what a runtime gets wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from onnxpad import processes
from onnxpad.errors import RequestError, nearest
from onnxpad.model.assembled import Array, with_output_shapes
from onnxpad.model.files.folders import refuse_folder, write_folder
from onnxpad.model.opened import Model, ModelLike
from onnxpad.reports import Report, reported
from onnxpad.reproducing.companions import companion
from onnxpad.reproducing.cutting import Cut, cut_out
from onnxpad.reproducing.papers import FILES, model_lines, papers, program
from onnxpad.reproducing.search import chains_of, smallest
from onnxpad.reproducing.specimens import drafted
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.judge import failing
from onnxpad.runtimes.targets import Target, find_target
from onnxpad.validation.expected import Expected, expected
from onnxpad.verbs import is_text, refuse_unless


@reported("target", "version", "row", "answer", "what", "evidence", "agrees", "about", "folder")
@dataclass(frozen=True, repr=False)
class Reproducer(Report):
    """What shows that a runtime does not do with a model what the ONNX text says.

    `row` is the address of the fact among those of the target, `what` its operators and
    conditions; `about` says what else is worth knowing: other facts that hold for the model as
    well, or what of the user's model was replaced. `expected` follows the text: padded operators
    are evaluated in float64, all others run one by one in onnxruntime without optimisations;
    `agrees` says what onnxruntime without optimisations makes of the whole. `folder` is where it
    was written.
    """

    target: str
    version: str
    row: str
    answer: str
    what: str
    evidence: str
    model: Model
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    agrees: str
    about: tuple[str, ...] = ()
    folder: str = ""
    command: str = ""

    schema = 1

    def files(self) -> dict[str, bytes]:
        """The contents of the folder by name: model, arrays, script, and what to say about it."""
        return papers(self)

    @property
    def program(self) -> str:
        """What to type in the folder to see it."""
        return program(self.target)

    @property
    def model_lines(self) -> list[str]:
        """The model as text, a line for each input, node, constant and output."""
        return model_lines(self.model, self.inputs, self.expected)

    def save(self, folder: str | os.PathLike[str]) -> Reproducer:
        """Write all files into a folder of their own; RequestError where it holds others."""
        write_folder(folder, self.files())
        return replace(self, folder=os.fspath(folder))


def reproduce(target: str, row: str) -> Reproducer:
    """The smallest model that falls under one row of a target.

    `row` is an address as `explain TARGET` prints it. Of a row of older releases the newest one
    in which it holds is meant. Raises RequestError with the nearest addresses where there is none
    of this name, and where no small model falls under it.
    """
    refuse_unless(is_text, "a name", "target", target)
    refuse_unless(is_text, "a name", "row", row)
    found = find_target(target)
    rows = found.failures
    if row not in rows:
        raise _no_row(found, row)
    made = specimen(found, row)
    if made is None:
        raise RequestError(
            f"no small model of one operator falls under '{row}' of {found.name}: {rows[row].what}"
        )
    return made


def specimen(target: Target, address: str) -> Reproducer | None:
    """The same for a row that is there; None where no small model falls under it."""
    row = target.failures[address]
    meant = _in_its_release(target, row)
    one = smallest(meant, row)
    others: set[Row] = set()
    if one is not None:
        model, feeds = drafted(one)
        others = {other for chain in chains_of(one) for other in failing(meant, chain)} - {row}
    else:
        found = next(filter(None, map(companion, row.operators)), None)
        if found is None:
            return None
        model, feeds = found(row)
    about = tuple(f"it {other.answer.does} as well: {other.what}" for other in others)
    command = f"onnxpad explain {target.name} --reproduce {address} -o DIR"
    return _reproducer(meant, (address, row), (model, feeds), about, command)


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
    found = find_target(target)
    with processes.limited(timeout, memory):
        part: Cut = cut_out(model, found, node, dims)
        rows = part.judgement.rows
        address = next((name for name, row in found.failures.items() if row in rows), "")
        if not address:
            raise RequestError(
                f"{part.label}: {found.name} {part.judgement.answer.does}, so there is nothing to "
                f"show{f': {part.judgement.reason}' if part.judgement.reason else ''}"
            )
        command = f"onnxpad inspect MODEL --target {found.name} --reproduce '{node}' -o DIR"
        kept = part.model, part.inputs
        return _reproducer(found, (address, rows[0]), kept, part.about, command)


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
        right.onnxruntime,
        about,
        command=command,
    )


def _in_its_release(target: Target, row: Row) -> Target:
    """The target in the newest release in which the row holds."""
    holders = [part for part in target.parts or (target,) if row in part.rows]
    if holders or not row.until:
        return holders[0] if holders else target
    return find_target(f"{target.runtime}@{row.until}")


def _no_row(target: Target, row: str) -> RequestError:
    known = list(target.failures)
    if not known:
        return RequestError(f"{target.name} has no fact about anything that it gets wrong")
    near = nearest(row, known, 3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there is '{known[0]}'"
    return RequestError(
        f"{target.name} has no fact '{row}': {hint} (onnxpad explain {target.name} prints all)"
    )


__all__ = ["FILES", "Reproducer", "refuse_folder", "reproduce", "reproduce_node"]
