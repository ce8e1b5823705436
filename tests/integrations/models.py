"""What the texts show, and what is asked of the models that tools write."""

from __future__ import annotations

from pathlib import Path

import onnxpad
from tests.house.documents import ROOT, of

SAME = ROOT / "models" / "t_same_string_ts.onnx"
"""OpenCV miscomputes two of its nodes."""


def shown(tool: str, language: str = "python") -> str:
    """The block of `onnxpad explain integrations` that is about a tool."""
    (block,) = (one for one in of("integrations", language) if tool in one)
    return block


def fits(path: Path, target: str) -> bool:
    """Whether the target takes every node of a model as it is."""
    done = onnxpad.rewrite(path, target=target)
    return not done.changed and not done.unfit


def proved(before: Path, after: Path) -> bool:
    """Whether both models are proved the same, and run the same."""
    return onnxpad.validate(before, after).verdict == "proved"
