"""Reports of the Python API as text, as pages, and in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnxpad.diagnosis import Diagnosis
from onnxpad.errors import RuntimeUnavailable, in_python
from onnxpad.guarding import Guarding
from onnxpad.inspection import Inspection
from onnxpad.measuring import Measurement
from onnxpad.resolving import Resolution
from onnxpad.retargeting import Retargeting
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.show.diagnoses import Around, diagnosis_document
from onnxpad.show.document import Document, document_text
from onnxpad.show.guardings import guarding_document
from onnxpad.show.inspections import inspection_document
from onnxpad.show.measurements import measurement_document
from onnxpad.show.pages.page import fragment_html, page_html
from onnxpad.show.pages.templates import check_installed
from onnxpad.show.resolutions import resolution_document
from onnxpad.show.retargetings import retargeting_document
from onnxpad.show.rewritings import rewriting_document
from onnxpad.show.validations import validation_document
from onnxpad.validation import Validation

_MODEL = "MODEL"
"""Stands for the name of the file, which a report does not know."""
_WRITTEN = ".model"
"""Where an edited model is, of which a report does not know whether it was saved."""
_RETARGET = "onnxpad retarget {} --plan plan.json -o OUT"


def _written(page: bool) -> str | None:  # noqa: FBT001 - the only argument
    return None if page else _WRITTEN


def _diagnosed(report: Diagnosis, model: str, page: bool) -> Document:  # noqa: FBT001 - as below
    follow = _RETARGET.format(model) if page else ""
    return diagnosis_document(report, model, Around(follow=follow))


_DOCUMENTS: dict[type, Callable[[Any, str, bool], Document]] = {
    Inspection: lambda one, model, page: inspection_document(one, model, page=page),
    Rewriting: lambda one, model, page: rewriting_document(model, _written(page), one, each=page),
    Retargeting: lambda one, model, page: retargeting_document(
        model, _written(page), one, each=page
    ),
    Validation: lambda one, _, page: validation_document(one, one.compared, each=page),
    Diagnosis: _diagnosed,
    Guarding: lambda one, _, page: guarding_document(one, draw=page),
    Measurement: lambda one, *_: measurement_document(one),
    Resolution: lambda one, *_: resolution_document(one),
}
"""The document of each kind of report, for a page or for a terminal."""


def report_text(report: object, model: str) -> str | None:
    """A report as its command prints it, with options as arguments; None of other kinds."""
    document = _document(report, model, page=False)
    return None if document is None else in_python(document_text(document))


def report_html(report: object, model: str, version: str) -> str | None:
    """A report as a page of its own; None of a kind without one.

    RuntimeUnavailable where the extra `html` is missing.
    """
    check_installed()
    document = _document(report, model, page=True)
    return None if document is None else page_html(document, version)


def notebook_html(report: object) -> str | None:
    """HTML of a report; None of a kind without a page, or where the extra `html` is missing."""
    try:
        check_installed()
    except RuntimeUnavailable:
        return None
    document = _document(report, _MODEL, page=True)
    return None if document is None else fragment_html(document)


def _document(report: object, model: str, *, page: bool) -> Document | None:
    make = _DOCUMENTS.get(type(report))
    return None if make is None else make(report, model, page)
