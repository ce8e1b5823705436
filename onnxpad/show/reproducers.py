"""Reproducers as text."""

from __future__ import annotations

from onnxpad.reproducing import Reproducer
from onnxpad.show.wording import visible


def reproducer_text(found: Reproducer) -> str:
    """What it shows, the model line by line, and what to type in its folder."""
    lines = [
        f"{found.target} {found.answer}: {found.what}",
        f"evidence: {found.evidence}",
        "",
        *(f"  {line}" for line in found.model_lines),
        "",
        *(f"note: {line}" for line in found.about),
        f"onnxruntime without optimisations {found.agrees}",
        f"written to {found.folder}: {', '.join(found.files())}",
        f"to see it, in that folder: {found.steps.replace('`', '')}",
    ]
    return "\n".join(map(visible, lines)) + "\n"
