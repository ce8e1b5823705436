"""Guarded commands: the verdict on what they wrote, and the change that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onnxpad.guarding import REPRODUCER, Guarding
from onnxpad.show.document import Document, Section
from onnxpad.show.validations import validation_document


def guarding_document(found: Guarding, *, each: bool = False) -> Document:
    """The validation of what a command made of a model, and what is wrong and how to see it again.

    Every comparison is told with `each`.
    """
    document = validation_document(found.validation, (found.before, found.after), each=each)
    compared = f"compared {found.before} with {found.after}, which the command wrote"
    wrong = Section("change", "The wrong change", tuple(_wrong_lines(found)))
    title, sections = "What a command made of", (wrong, *document.sections)
    return replace(document, title=title, summary=(compared,), sections=sections)


def _wrong_lines(found: Guarding) -> Iterator[str]:
    """The change that is wrong, and what shows it."""
    change = found.culprit
    if change is None:
        return
    yield f"wrong change: {change.kind}, at '{change.tensor}'"
    yield f"  before  {', '.join(change.before) or 'nothing'}"
    yield f"  after   {', '.join(change.after) or 'nothing'}"
    if found.reproducer is not None:
        first, second, inputs = (f"{found.reproducer}/{name}" for name in REPRODUCER)
        yield f"  shown by  onnxpad validate {first} {second} --inputs {inputs}"
