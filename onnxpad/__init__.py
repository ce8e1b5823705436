"""Inspect, rewrite and validate padding in ONNX models, exactly.

Names are loaded when they are first used: `import onnxpad` loads neither onnx nor numpy.
"""

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this

if TYPE_CHECKING:
    from onnxpad.batch.each import Batch, Outcome, each
    from onnxpad.diagnosis import Diagnosis, diagnose
    from onnxpad.errors import (
        InternalError,
        LimitMet,
        ModelError,
        OnnxpadError,
        RequestError,
        RuntimeUnavailable,
    )
    from onnxpad.explaining import Explanation, explain
    from onnxpad.guarding import Guarding, GuardRefused, guard, guarded
    from onnxpad.inspection import Inspection, PaddedNode, inspect
    from onnxpad.model.files.onnx_file import load, save
    from onnxpad.resolving import Resolution, resolve
    from onnxpad.retargeting import Retargeting, retarget
    from onnxpad.retargeting.plan import Plan, PlanEntry
    from onnxpad.rewriting.rewrite import Rewriting, rewrite
    from onnxpad.validation import Validation, Verdict, validate

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Diagnosis",
    "Explanation",
    "GuardRefused",
    "Guarding",
    "Inspection",
    "InternalError",
    "LimitMet",
    "ModelError",
    "OnnxpadError",
    "Outcome",
    "PaddedNode",
    "Plan",
    "PlanEntry",
    "RequestError",
    "Resolution",
    "Retargeting",
    "Rewriting",
    "RuntimeUnavailable",
    "Validation",
    "Verdict",
    "__version__",
    "diagnose",
    "each",
    "explain",
    "guard",
    "guarded",
    "inspect",
    "load",
    "resolve",
    "retarget",
    "rewrite",
    "save",
    "validate",
]

_HOMES = {
    "onnxpad.batch.each": ("Batch", "Outcome", "each"),
    "onnxpad.diagnosis": ("Diagnosis", "diagnose"),
    "onnxpad.errors": (
        "InternalError",
        "LimitMet",
        "ModelError",
        "OnnxpadError",
        "RequestError",
        "RuntimeUnavailable",
    ),
    "onnxpad.explaining": ("Explanation", "explain"),
    "onnxpad.guarding": ("Guarding", "GuardRefused", "guard", "guarded"),
    "onnxpad.model.files.onnx_file": ("load", "save"),
    "onnxpad.inspection": ("Inspection", "PaddedNode", "inspect"),
    "onnxpad.retargeting.plan": ("Plan", "PlanEntry"),
    "onnxpad.resolving": ("Resolution", "resolve"),
    "onnxpad.retargeting": ("Retargeting", "retarget"),
    "onnxpad.rewriting.rewrite": ("Rewriting", "rewrite"),
    "onnxpad.validation": ("Validation", "Verdict", "validate"),
}


def __getattr__(name: str) -> object:
    """Load a public name from its module (PEP 562)."""
    from importlib import import_module  # keeps the namespace free of it

    for home, names in _HOMES.items():
        if name in names:
            found: object = getattr(import_module(home), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'onnxpad' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
