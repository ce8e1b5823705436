"""Files of known findings: a check fails for what is not in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onnxpad.cli.exits import STANDARD
from onnxpad.errors import ModelError, RequestError

if TYPE_CHECKING:
    from onnxpad.inspection import Finding

LARGEST = 64 * 2**20
"""Bytes that the file may have."""
_VERSION = 1
NO_WAY = "no way"
"""What stands instead of a command where nothing that onnxpad writes repairs a finding."""
NOT_KNOWN = "not known"
"""The same where nobody knows what the runtime does with the node."""
_AGAIN = "write it anew with --write-baseline"


class Known(NamedTuple):
    """A finding by what stays the same: the code, and the address of its node."""

    code: str
    node: str

    @classmethod
    def of(cls, finding: Finding) -> Known:
        """What is kept of a finding."""
        return cls(finding.code, finding.node)


class Baseline:
    """Known findings by model; models are named as seen from the folder of the file.

    `repairs` are commands by model and finding, for those who read the file.
    """

    def __init__(
        self,
        path: str,
        models: Mapping[str, frozenset[Known]],
        repairs: Mapping[str, Mapping[Known, str]] | None = None,
    ) -> None:
        self.path = path
        self._models = dict(models)
        self._repairs = {name: dict(told) for name, told in (repairs or {}).items()}
        self._folder = Path(path).resolve().parent

    def known_of(self, model: str) -> frozenset[Known]:
        """What is known of a model."""
        return self._models.get(self.name(model), frozenset())

    def learn(self, model: str, found: frozenset[Known]) -> frozenset[Known]:
        """Take this for all that is known of a model."""
        self._models[self.name(model)] = found
        return found

    def note(self, model: str, repairs: Mapping[Known, str]) -> None:
        """Say of findings what repairs them."""
        self._repairs.setdefault(self.name(model), {}).update(repairs)

    def write(self) -> None:
        """Write the file, all or nothing, without models that are gone; RequestError says why not.

        The same findings give the same bytes, and one finding is one line.
        """
        from onnxpad.model.files.delivery import deliver

        models = {name: known for name, known in sorted(self._models.items()) if self._keeps(name)}
        listed = {name: _by_code(known) for name, known in models.items()}
        told = {name: self._told(name, known) for name, known in models.items()}
        repairs = {name: by_code for name, by_code in told.items() if by_code}
        content = {"onnxpad-baseline": _VERSION, "models": listed, "repairs": repairs}
        data = json.dumps(content, indent=2, ensure_ascii=False).encode(errors="backslashreplace")
        try:
            deliver([memoryview(data + b"\n")], (), self.path, origin=None)
        except ModelError as error:
            raise RequestError(f"the baseline: {error.told}") from error.__cause__

    def _told(self, name: str, known: Iterable[Known]) -> dict[str, dict[str, list[str]]]:
        """By code the commands with the nodes that each repairs."""
        found: dict[str, dict[str, list[str]]] = {}
        for one in sorted(known):
            if command := self._repairs.get(name, {}).get(one):
                found.setdefault(one.code, {}).setdefault(command, []).append(one.node)
        return found

    def _keeps(self, name: str) -> bool:
        return bool(self._models[name]) and (name == STANDARD or (self._folder / name).exists())

    def name(self, model: str) -> str:
        """What the file calls a model."""
        if model == STANDARD:
            return model
        path = Path(model).absolute()
        try:
            return Path(os.path.relpath(path, self._folder)).as_posix()
        except ValueError:  # on another drive
            return path.as_posix()


def _by_code(known: Iterable[Known]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for code, node in sorted(known):
        found.setdefault(code, []).append(node)
    return found


def read_baseline(path: str) -> Baseline:
    """The baseline in a file; RequestError where there is none, or it cannot be read."""
    from onnxpad.model.files.contents import Refused, contents

    try:
        content = json.loads(contents(path, LARGEST))
    except FileNotFoundError:
        raise RequestError(f"there is no baseline '{path}': --write-baseline writes one") from None
    except OSError as error:
        raise RequestError(f"cannot read the baseline '{path}': {error.strerror}") from error
    except Refused as error:
        raise RequestError(f"cannot read the baseline '{path}': {error}") from error
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the baseline '{path}' is not JSON: {error}; {_AGAIN}") from error
    models = dict(_models(content, path))
    return Baseline(path, models, {name: dict(_repairs(content, name)) for name in models})


def _models(content: Any, path: str) -> Iterator[tuple[str, frozenset[Known]]]:  # noqa: ANN401
    version = content.get("onnxpad-baseline") if isinstance(content, dict) else None
    if version != _VERSION:
        said = "is none of onnxpad's" if version is None else f"has version {version}"
        raise RequestError(f"the baseline '{path}' {said}: {_AGAIN}")
    models = content.get("models")
    if not isinstance(models, dict):
        raise RequestError(f"the baseline '{path}' lists no models: {_AGAIN}")
    for name, codes in models.items():
        if not _is_listing(codes):
            raise RequestError(
                f"the baseline '{path}' cannot be read at '{name}', which is to hold lists of "
                f"nodes by code: {_AGAIN}"
            )
        yield name, frozenset(Known(code, node) for code, nodes in codes.items() for node in nodes)


def _repairs(content: Mapping[str, Any], name: str) -> Iterator[tuple[Known, str]]:
    """What the file says of repairs; what is not written as onnxpad does is passed over."""
    by_model = content.get("repairs")
    by_code = by_model.get(name) if isinstance(by_model, dict) else None
    for code, commands in by_code.items() if isinstance(by_code, dict) else ():
        if _is_listing(commands):
            for command, nodes in commands.items():
                yield from ((Known(code, node), command) for node in nodes)


def _is_listing(codes: object) -> bool:
    return isinstance(codes, dict) and all(
        isinstance(nodes, list) and all(isinstance(node, str) for node in nodes)
        for nodes in codes.values()
    )
