"""Reports of the Python API as their commands print them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnxpad.diagnosis import Diagnosis
from onnxpad.errors import in_python
from onnxpad.guarding import Guarding
from onnxpad.inspection import Inspection
from onnxpad.measuring import Measurement
from onnxpad.resolving import Resolution
from onnxpad.retargeting import Retargeting
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.show.diagnoses import diagnosis_document
from onnxpad.show.document import document_text
from onnxpad.show.guardings import guarding_document
from onnxpad.show.inspections import inspection_text
from onnxpad.show.measurements import measurement_document
from onnxpad.show.resolutions import resolution_document
from onnxpad.show.retargetings import retargeting_document
from onnxpad.show.rewritings import rewriting_document
from onnxpad.show.validations import validation_document
from onnxpad.validation import Validation

_WRITTEN = ".model"
"""Where an edited model is, of which a report does not know whether it was saved."""


_TEXTS: dict[type, Callable[[Any, str], str]] = {
    Inspection: lambda found, model: inspection_text(found, model=model),
    Rewriting: lambda found, model: document_text(rewriting_document(model, _WRITTEN, found)),
    Retargeting: lambda found, model: document_text(retargeting_document(model, _WRITTEN, found)),
    Validation: lambda found, _: document_text(validation_document(found)),
    Diagnosis: lambda found, _: document_text(diagnosis_document(found)),
    Guarding: lambda found, _: document_text(guarding_document(found)),
    Measurement: lambda found, _: document_text(measurement_document(found)),
    Resolution: lambda found, _: document_text(resolution_document(found)),
}


def report_text(report: object, model: str) -> str | None:
    """A report as text, with options as arguments; None of a kind that no command prints."""
    write = _TEXTS.get(type(report))
    return None if write is None else in_python(write(report, model))
