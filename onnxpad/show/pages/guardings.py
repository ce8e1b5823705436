"""Guarded commands as pages: the validation of what they wrote, and the change that is wrong."""

from __future__ import annotations

from onnxpad.errors import OnnxpadError, headline
from onnxpad.guarding import Guarding
from onnxpad.show.guardings import wrong_lines
from onnxpad.show.pages.page import Page, Section
from onnxpad.show.pages.validations import validation_page
from onnxpad.show.wording import visible
from onnxpad.validation.changed_padding import ChangedPadding, changed_padding


def guarding_page(found: Guarding) -> Page:
    """The page about what a command made of a model."""
    changes: tuple[ChangedPadding, ...] = ()
    undrawn = ""
    if found.culprit is not None:
        try:
            changes = changed_padding(*found.culprit.models)
        except OnnxpadError as error:
            undrawn = headline(error)
    page = validation_page(found.validation, (found.before, found.after), changes, undrawn)
    wrong = Section("change", "The wrong change", tuple(map(visible, wrong_lines(found))))
    return page._replace(title="What a command made of", sections=(wrong, *page.sections))
