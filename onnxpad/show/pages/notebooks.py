"""Reports of the Python API as pages, and in notebooks: the same figures, without scripts."""

from __future__ import annotations

from onnxpad.diagnosis import Diagnosis
from onnxpad.errors import RuntimeUnavailable
from onnxpad.guarding import Guarding
from onnxpad.inspection import Inspection
from onnxpad.resolving import Resolution
from onnxpad.retargeting import Retargeting
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.show.diagnoses import Around, diagnosis_document
from onnxpad.show.document import Document
from onnxpad.show.guardings import guarding_document
from onnxpad.show.pages.inspections import inspection_page
from onnxpad.show.pages.page import Page, fragment_html, page_html
from onnxpad.show.pages.templates import check_installed
from onnxpad.show.resolutions import resolution_document
from onnxpad.show.retargetings import retargeting_document
from onnxpad.show.rewritings import rewriting_document
from onnxpad.show.validations import validation_document
from onnxpad.validation import Validation

_RETARGET = "onnxpad retarget {} --plan plan.json -o OUT"
_MODEL = "MODEL"
"""Stands for the name of the file, which a report does not know."""


def notebook_html(report: object) -> str | None:
    """HTML of a report; None of a kind without pictures, or where the extra `html` is missing."""
    try:
        check_installed()
    except RuntimeUnavailable:
        return None
    page = _page_of(report, _MODEL)
    return None if page is None else fragment_html(page)


def report_html(report: object, model: str, version: str) -> str | None:
    """A report as a page of its own; None of a kind without one.

    RuntimeUnavailable where the extra `html` is missing.
    """
    check_installed()
    page = _page_of(report, model)
    return None if page is None else page_html(page, version)


def _page_of(report: object, model: str) -> Page | Document | None:
    match report:
        case Inspection():
            return inspection_page(report, model)
        case Rewriting():
            return rewriting_document(model, None, report, each=True)
        case Retargeting():
            return retargeting_document(model, None, report, each=True)
        case Validation():
            return validation_document(report, report.compared, each=True)
        case Diagnosis():
            return diagnosis_document(report, model, Around(follow=_RETARGET.format(model)))
        case Guarding():
            return guarding_document(report, draw=True)
        case Resolution():
            return resolution_document(report)
        case _:
            return None
