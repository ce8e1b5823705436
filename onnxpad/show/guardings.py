"""Guarded commands: the verdict on what they wrote, and the change that is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.guarding import REPRODUCER, Guarding
from onnxpad.show.tables import Terminal
from onnxpad.show.validations import validation_text
from onnxpad.show.wording import paragraph, visible


def guarding_text(found: Guarding, terminal: Terminal | None) -> str:
    """What was compared, the validation, and behind it what is wrong and how to see it again."""
    compared = f"{visible(found.before)} against {visible(found.after)}, which the command wrote"
    wrong = paragraph(visible(line) for line in wrong_lines(found))
    parts = [compared, validation_text(found.validation, terminal).rstrip("\n"), wrong]
    return "\n\n".join(part for part in parts if part) + "\n"


def wrong_lines(found: Guarding) -> Iterator[str]:
    """The change that is wrong, and what shows it."""
    one = found.culprit
    if one is None:
        return
    yield f"wrong change: {one.kind}, at '{one.tensor}'"
    yield f"  before  {', '.join(one.before) or 'nothing'}"
    yield f"  after   {', '.join(one.after) or 'nothing'}"
    if found.reproducer is not None:
        first, second, inputs = (f"{found.reproducer}/{name}" for name in REPRODUCER)
        yield f"  shown by  onnxpad validate {first} {second} --inputs {inputs}"
