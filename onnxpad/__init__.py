"""Inspect, rewrite and validate padding in ONNX models, exactly.

    onnxpad.inspect("model.onnx", target="opencv")              what goes wrong where
    done = onnxpad.rewrite("model.onnx", target="opencv")       the same numbers in another form
    onnxpad.validate("model.onnx", done.model).ok               proved, and run
    done.save("for_opencv.onnx")

A model is a path, bytes, a ModelProto, an onnx_ir.Model, an onnx_graphsurgeon.Graph, or what
carries one (torch.onnx.ONNXProgram, an onnxscript function): what came in comes back as `.model`.
Reports (Inspection, Rewriting, Validation ...) are data with `to_json()` and `to_text()`;
help(onnxpad.Inspection) lists the fields. All errors are OnnxpadError; messages name options as
the command line has them: --dim 'H%4=0' is dims={'H': '%4=0'}. `onnxpad.explain("python")`
has more examples.
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
    from onnxpad.inspection import Finding, Inspection, PaddedNode, inspect
    from onnxpad.measuring import Measurement, measure
    from onnxpad.model.files.delivery import save
    from onnxpad.model.files.onnx_file import load
    from onnxpad.padding.chain import Skip
    from onnxpad.porting import PortedNode, Porting, port
    from onnxpad.resolving import Resolution, resolve
    from onnxpad.retargeting import Retargeting, retarget
    from onnxpad.retargeting.plan import Plan, PlanEntry
    from onnxpad.rewriting.for_target.report import NodeVerdict
    from onnxpad.rewriting.pipeline import Change, Refusal
    from onnxpad.rewriting.rewrite import Rewriting, rewrite
    from onnxpad.validation import Validation, Verdict, validate

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Change",
    "Diagnosis",
    "Explanation",
    "Finding",
    "GuardRefused",
    "Guarding",
    "Inspection",
    "InternalError",
    "LimitMet",
    "Measurement",
    "ModelError",
    "NodeVerdict",
    "OnnxpadError",
    "Outcome",
    "PaddedNode",
    "Plan",
    "PlanEntry",
    "PortedNode",
    "Porting",
    "Refusal",
    "RequestError",
    "Resolution",
    "Retargeting",
    "Rewriting",
    "RuntimeUnavailable",
    "Skip",
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
    "measure",
    "port",
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
    "onnxpad.measuring": ("Measurement", "measure"),
    "onnxpad.model.files.delivery": ("save",),
    "onnxpad.model.files.onnx_file": ("load",),
    "onnxpad.inspection": ("Finding", "Inspection", "PaddedNode", "inspect"),
    "onnxpad.padding.chain": ("Skip",),
    "onnxpad.rewriting.for_target.report": ("NodeVerdict",),
    "onnxpad.rewriting.pipeline": ("Change", "Refusal"),
    "onnxpad.retargeting.plan": ("Plan", "PlanEntry"),
    "onnxpad.porting": ("PortedNode", "Porting", "port"),
    "onnxpad.resolving": ("Resolution", "resolve"),
    "onnxpad.retargeting": ("Retargeting", "retarget"),
    "onnxpad.rewriting.rewrite": ("Rewriting", "rewrite"),
    "onnxpad.validation": ("Validation", "Verdict", "validate"),
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used (PEP 562): onnx and numpy wait until then."""
    from importlib import import_module  # keeps the namespace free of it

    for home, names in _HOMES.items():
        if name in names:
            found: object = getattr(import_module(home), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'onnxpad' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Functions alone, which keeps help(onnxpad) short; `__all__` has the classes as well."""
    return [name for name in __all__ if name[0].islower() or name == "__version__"]
