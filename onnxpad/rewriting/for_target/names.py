"""Targets by the names that users give: who names a framework is told what is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnxpad.errors import RequestError, either
from onnxpad.runtimes.own_targets import TargetName, target_names
from onnxpad.runtimes.targets import Target, all_targets, find_target, find_targets

ALL = "all"
"""What stands for every target where nothing is written."""
_ALL_IS_FOR_INSPECT = (
    "target 'all' is for inspect alone, which says what each runtime does; name the runtimes that "
    "are to take the model, or 'portable' for what the measured ones have in common"
)


class ByTarget(dict[str, Any]):
    """What is known of targets, by their own names; `[]` also takes names that stand for these."""

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - as in dict
        try:
            own = find_target(name).name
        except RequestError:
            own = name
        if own == name:
            raise KeyError(name)
        return self[own]


def target_asked(name: TargetName) -> Target:
    """As `find_target`; the RequestError about a framework's name says what there is of it."""
    try:
        return find_target(name)
    except RequestError:
        if not isinstance(name, str):
            raise
        if name == ALL:
            raise RequestError(_ALL_IS_FOR_INSPECT) from None
        meant = _of_framework(name.partition("@")[0])
        if not meant:
            raise
        raise RequestError(f"no target is called '{name}', {meant}") from None


def targets_asked(names: TargetName | Sequence[TargetName]) -> Target:
    """As `find_targets`, of names as `target_asked` reads them."""
    asked = target_names(names)
    for name in asked:
        target_asked(name)
    return find_targets(asked)


def _of_framework(name: str) -> str:
    """What a framework is to a runtime: one loads models into it, or its padding can be written.

    '' where no framework has that name.
    """
    from onnxpad.frameworks.conventions import find_convention

    try:
        known = find_convention(name)
    except RequestError:
        return ""
    moved = f"'onnxpad retarget MODEL --to {known.name} -o OUT' makes a model pad as it does"
    into = [one.name for one in all_targets().values() if known.name in one.frameworks]
    if not into:
        return f"which is a framework's convention and no runtime: {moved}"
    loads = "loads" if len(into) == 1 else "load"
    return f"which is a framework: {either(into)} {loads} models into it, and {moved}"
