"""What makes inspect exit with 1: --fail-on, and the baseline of known findings.

A baseline is a file of sorted lines, `model: code node`; models are named as seen from its folder.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli.outputs import refuse_reading, write_file
from onnxpad.cli.parser import given_by_hand
from onnxpad.cli.streams import FINDINGS, FINE, STANDARD, WRONG, say, say_with_try
from onnxpad.errors import RequestError, counted, few
from onnxpad.inspection import KINDS, OFF_DEVICE, TRAP, inspected_status

if TYPE_CHECKING:
    from onnxpad.batch.each import Outcome

_DEFAULT = "refused"
_FEW = 3
"""Nodes of one reason that are named."""
LARGEST = 64 * 2**20
"""Bytes that a baseline may have."""


class Gate:
    """Judges model after model, and sums up.

    Raises click.UsageError for options that make no sense together, RequestError for a baseline
    that cannot be read or has no place.
    """

    def __init__(self, models: Sequence[str], given: Mapping[str, Any]) -> None:
        levels = [level for level in given["fail_on"] if level != TRAP]
        if levels and not given["target"] and given_by_hand("fail_on"):
            raise click.UsageError(
                f"--fail-on {levels[0]} is about what a runtime does: add --target T (--fail-on "
                "trap needs none)"
            )
        kinds = tuple(KINDS.values())
        worst = kinds[min(map(kinds.index, levels or [_DEFAULT])) :]
        asks_alone = given["failing"] or given["sarif"]
        traps = asks_alone and not given["target"] and not given["device"]
        trap = [TRAP] if traps or TRAP in given["fail_on"] else []
        self.kinds = frozenset((*worst, OFF_DEVICE, *trap))
        self._given = given
        self._path = given["baseline"]
        self._lines = _baseline(models, given) if self._path is not None else set()
        self._speaks = bool(given["fail_on"] or self._path or asks_alone)
        self._now: set[str] = set()
        self._own: list[str] = []
        self._unread: list[str] = []

    def judge(self, outcome: Outcome) -> Outcome:
        """The outcome with what fails the model; where a baseline is to be written, nothing does.

        What is known of a model that could not be inspected stays as it is.
        """
        if outcome.error:
            self._unread.append(outcome.file)
            return outcome
        record = outcome.record
        own = f"{_text(self._name(outcome.file))}: "
        self._own.append(own)
        marked = []
        for finding in record["findings"]:
            line = f"{own}{_text(finding['code']).replace(' ', '_')} {_text(finding['node'])}"
            fails = finding["kind"] in self.kinds
            self._now |= {line} if fails else set()
            known = fails and (line in self._lines or self._given["write_baseline"])
            marked.append(finding | {"fails": fails and not known, "known": known})
        fails = any(one["fails"] for one in marked)
        knows = any(one["known"] for one in marked)
        status = inspected_status(record, fails=fails, knows=knows)
        return outcome._replace(
            result=status,
            code=FINDINGS if fails else FINE,
            record={**record, "findings": marked, "status": status},
        )

    def _name(self, model: str) -> str:
        """What the baseline calls a model."""
        if model == STANDARD or self._path is None:
            return model
        path = Path(model).absolute()
        try:
            return Path(os.path.relpath(path, Path(self._path).resolve().parent)).as_posix()
        except ValueError:  # on another drive
            return path.as_posix()

    def say_why(self, outcome: Outcome) -> None:
        """Lines on standard error about what fails a model: each code and reason, and a repair.

        Of one model, whose report says the same, only where a gate was asked for; of many also with
        --each.
        """
        failing = [] if outcome.error else [x for x in outcome.record["findings"] if x["fails"]]
        each = self._given["each"]
        if not failing or not (self._speaks or (each and outcome.document is None)):
            return
        alike: dict[tuple[str, str], dict[str, None]] = {}
        for one in failing:
            key = one["code"], one["reason"]
            alike.setdefault(key, {})[f"'{one['node']}'"] = None
        for (code, reason), nodes in alike.items():
            named = few(list(nodes), len(nodes) if each else _FEW)
            said = f"{code} {named}{f': {reason}' if reason else ''}"
            say_with_try(f"fails: {outcome.file}: {said}")
        explained = f"onnxpad explain {shlex.quote(failing[0]['code'])}"
        say(f"  try     {next(iter(outcome.following), explained)}\n")

    def conclude(self, status: int) -> int:
        """Write the baseline, or say how it compares; the exit code."""
        if self._given["write_baseline"]:
            self._write(self._lines | self._now)
            return self._written()
        if known := self._lines & self._now:
            say(f"{counted(len(known), 'known finding')} in {self._path}\n")
        gone = {line for line in self._lines - self._now if line.startswith(tuple(self._own))}
        if self._given["prune_baseline"] and gone:
            self._write(self._lines - gone)
            say(f"{counted(len(gone), 'known finding')} dropped from {self._path}\n")
        return status

    def _write(self, lines: set[str]) -> None:
        write_file("--baseline", self._path, "".join(f"{one}\n" for one in sorted(lines)).encode())

    def _written(self) -> int:
        """Say that the baseline is written; WRONG where a model could not be inspected."""
        if not self._unread:
            say(f"wrote {self._path}\n")
            return FINE
        models = f"{counted(len(self._unread), 'model')} that could not be inspected"
        named = few([f"'{one}'" for one in self._unread], _FEW)
        cure = "repair the file, or leave it out with --exclude GLOB"
        say_with_try(f"wrote {self._path} without {models}: {named}", cure)
        return WRONG


def _text(text: str) -> str:
    from onnxpad.show.wording import visible

    return visible(text).encode(errors="backslashreplace").decode()


def _baseline(models: Sequence[str], given: Mapping[str, Any]) -> set[str]:
    """The lines of a baseline; RequestError where there is none, or it cannot be read."""
    from onnxpad.model.files.contents import Refused, contents

    path = given["baseline"]
    if given["write_baseline"]:
        refuse_reading("--baseline", path, models)
    try:
        lines = set(filter(None, bytes(contents(path, LARGEST)).decode().splitlines()))
    except FileNotFoundError:
        if given["write_baseline"]:
            return set()
        raise RequestError(f"there is no baseline '{path}': --write-baseline writes one") from None
    except (OSError, Refused) as error:
        why = getattr(error, "strerror", None) or error
        raise RequestError(f"cannot read the baseline '{path}': {why}") from error
    except ValueError:
        lines = {""}
    if not all(re.match(r"[^{\[].*: \S+ ", line) for line in lines):
        raise RequestError(
            f"the baseline '{path}' is none of onnxpad's: write it anew with --write-baseline"
        )
    return lines
