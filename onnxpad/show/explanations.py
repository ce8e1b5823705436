"""Explanations as text."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.explaining import KINDS, Explanation
from onnxpad.show.tables import Terminal, table

_PLURALS = {kind: "passes" if kind == "pass" else f"{kind}s" for kind in KINDS}


def explanation_text(explanation: Explanation) -> str:
    """One entry in full."""
    facts = [*explanation.facts]
    if explanation.source:
        facts.append(("source", explanation.source))
    width = max((len(name) for name, _ in facts), default=0)
    lines = "\n".join(f"{name.ljust(width)}  {value}" for name, value in facts)
    parts = [f"{explanation.name} ({explanation.kind})", explanation.text, lines]
    return "\n\n".join(part for part in parts if part) + "\n"


def list_text(entries: Sequence[Explanation], terminal: Terminal | None = None) -> str:
    """Every entry with its first sentence, kind by kind."""
    parts = []
    for kind in KINDS:
        rows = [(entry.name, entry.headline) for entry in entries if entry.kind == kind]
        parts.append(table((_PLURALS[kind], ""), rows, terminal))
    return "\n\n".join(part for part in parts if part) + "\n"
