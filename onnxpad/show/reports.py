"""Reports of the Python API as text, as pages, and in notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from onnxpad.diagnosis import Diagnosis
from onnxpad.errors import RequestError, RuntimeUnavailable
from onnxpad.explaining import Explanation
from onnxpad.guarding import Guarding
from onnxpad.inspection import Inspection
from onnxpad.measuring import Measurement
from onnxpad.resolving import Resolution
from onnxpad.retargeting import Retargeting
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.show.diagnoses import diagnosis_document
from onnxpad.show.document import Document, document_text
from onnxpad.show.edits import edited_document
from onnxpad.show.explanations import explanation_document
from onnxpad.show.guardings import guarding_document
from onnxpad.show.inspections import inspection_document
from onnxpad.show.measurements import measurement_document
from onnxpad.show.pages.page import fragment_html, page_html
from onnxpad.show.pages.templates import check_installed
from onnxpad.show.resolutions import resolution_document
from onnxpad.show.validations import validation_document
from onnxpad.validation import Validation

_RETARGET = "onnxpad retarget {} --plan plan.json -o OUT"
_DOCUMENTS: dict[type, Callable[[Any, str, bool], Document]] = {
    Inspection: lambda one, model, page: inspection_document(one, model, page=page),
    **dict.fromkeys(
        (Rewriting, Retargeting),
        lambda one, model, page: edited_document(model, "", one, each=page),
    ),
    Validation: lambda one, _, page: validation_document(one, one.compared, each=page),
    Diagnosis: lambda one, model, _: diagnosis_document(
        one, model, follow=_RETARGET.format(model) if one.explained else ""
    ),
    Guarding: lambda one, _, page: guarding_document(one, each=page),
    Measurement: lambda one, *_: measurement_document(one),
    Resolution: lambda one, *_: resolution_document(one),
    Explanation: lambda one, *_: explanation_document(one),
}
"""The document of each kind of report, about which model, and whether it is for a page."""


def report_text(report: object, model: str) -> str:
    """A report as its command prints it; RequestError for other kinds."""
    return document_text(_document_of(report, model, page=False))


def report_html(report: object, model: str) -> str:
    """A report as a page of its own; RequestError for other kinds.

    RuntimeUnavailable where the extra `html` is missing.
    """
    document = _document_of(report, model, page=True)
    check_installed()
    return page_html(document, sys.modules["onnxpad"].__version__)


def notebook_html(report: object) -> str | None:
    """HTML of a report; None of a kind without a page, or where the extra `html` is missing."""
    try:
        check_installed()
        return fragment_html(_document_of(report, "MODEL", page=True))
    except (RuntimeUnavailable, RequestError):
        return None


def _document_of(report: object, model: str, *, page: bool) -> Document:
    make = _DOCUMENTS.get(type(report))
    if make is None:
        raise RequestError(f"no command prints a {type(report).__name__}: take to_json()")
    return make(report, model, page)
