"""Many models: a few lines about all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnxpad.errors import counted, few
from onnxpad.show.wording import route_text, visible

_NAMED = 3
_LAST = ("not written", "error")
_NAMES_FOR = (*_LAST, "failing", "different", "unverified", "not known")
"""Results whose models are named at the end."""
_WHAT_TO_DO = {
    "failing": "--each names the nodes and the command that repairs them",
    "with traps": "inspect one of them alone to see its nodes and the command that repairs them",
    "not known": "no finding unless --fail-on unknown is given; inspect of one of them alone says "
    "what is not known, and what to add",
}


def totals_text(outcomes: Sequence[Any], noun: str) -> str:
    """'30 models: 3 rewritten, 24 unchanged, 3 not written (a.onnx, b.onnx, c.onnx)'.

    Above it stands what is true of all of them, and what to do about results that need something.
    `outcomes` have the `file`, the `result` and the `record` of each model.
    """
    from onnxpad.show.verdicts import not_judged_text

    names: dict[str, list[str]] = {}
    for one in outcomes:
        names.setdefault(one.result, []).append(route_text(one.file))
    records = [one.record for one in outcomes]
    releases = [note for one in records for note in one.get("unmeasured", {}).values()]
    releases += [(one.get("target") or {}).get("unmeasured") for one in records]
    lines = [f"note: {note}" for note in sorted({*filter(None, releases)})]
    if kinds := {kind for one in records for kind in one.get("not_judged", ())}:
        lines.append(not_judged_text(sorted(kinds)))
    lines += [f"{result}: {say}" for result, say in _WHAT_TO_DO.items() if result in names]
    parts = []
    for result in sorted(names, key=lambda one: (one in _LAST, one in ("unchanged", "fine"))):
        named = f" ({few(names[result], _NAMED)})" if result in _NAMES_FOR else ""
        parts.append(f"{len(names[result])} {result}{named}")
    lines.append(f"{counted(len(outcomes), noun)}: {', '.join(parts)}")
    if unfit := [route_text(one.file) for one in outcomes if one.written and one.code]:
        lines.append(f"exit code 1: a target may not take all nodes of {few(unfit, _NAMED)}")
    if skips := {
        route_text(x.file): len(x.record["skips"]) for x in outcomes if x.record.get("skips")
    }:
        where = f"{counted(len(skips), noun)} ({few([*skips], _NAMED)})"
        nodes = counted(sum(skips.values()), "node")
        lines.append(f"{nodes} skipped in {where}: one model alone, or --json, says why")
    return "\n".join(map(visible, lines))
