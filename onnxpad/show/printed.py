"""Reports of the Python API as their commands print them."""

from __future__ import annotations

from onnxpad.diagnosis import Diagnosis
from onnxpad.errors import in_python
from onnxpad.guarding import Guarding
from onnxpad.inspection import Inspection
from onnxpad.measuring import Measurement
from onnxpad.resolving import Resolution
from onnxpad.retargeting import Retargeting
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.show.diagnoses import diagnosis_text
from onnxpad.show.guardings import guarding_text
from onnxpad.show.inspections import inspection_text
from onnxpad.show.measurements import measurement_text
from onnxpad.show.resolutions import resolution_text
from onnxpad.show.retargetings import retargeting_text
from onnxpad.show.rewritings import rewriting_text
from onnxpad.show.validations import validation_text
from onnxpad.validation import Validation

_WRITTEN = ".model"
"""Where an edited model is, of which a report does not know whether it was saved."""


def report_text(report: object, model: str) -> str | None:
    """A report as text, with options as arguments; None of a kind that no command prints."""
    text = _text_of(report, model)
    return None if text is None else in_python(text)


def _text_of(report: object, model: str) -> str | None:  # noqa: PLR0911 - one for each kind
    match report:
        case Inspection():
            return inspection_text(report, model=model)
        case Rewriting():
            return rewriting_text(model, _WRITTEN, report)
        case Retargeting():
            return retargeting_text(model, _WRITTEN, report)
        case Validation():
            return validation_text(report)
        case Diagnosis():
            return diagnosis_text(report)
        case Measurement():
            return measurement_text(report)
        case Guarding():
            return guarding_text(report, None)
        case Resolution():
            return resolution_text(report)
        case _:
            return None
