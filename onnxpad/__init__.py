"""Inspect, rewrite and validate padding in ONNX models, exactly.

    onnxpad.inspect("model.onnx", target="opencv")              what goes wrong where
    done = onnxpad.rewrite("model.onnx", target="opencv")       the same numbers in another form
    onnxpad.validate("model.onnx", done.model).ok               proved, and run
    done.save("for_opencv.onnx")

A model is a path, bytes, a ModelProto, an onnx_ir.Model, an onnx_graphsurgeon.Graph, or what
holds one (torch.onnx.ONNXProgram, an onnxscript function). What came in comes back as `.model`.
Reports (Inspection, Rewriting, Validation ...) are data with `to_json()` and `to_text()`;
help(onnxpad.Inspection) lists the fields. All errors are OnnxpadError. Messages name options as on
the command line: --dim 'H%4=0' is dims={'H': '%4=0'}. `onnxpad.explain("python")`
has more examples.
"""

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this

if TYPE_CHECKING:
    from onnxpad.batch.each import Batch as Batch, Outcome as Outcome, each as each
    from onnxpad.diagnosis import Diagnosis as Diagnosis, diagnose as diagnose
    from onnxpad.errors import (
        InternalError as InternalError,
        LimitMet as LimitMet,
        ModelError as ModelError,
        OnnxpadError as OnnxpadError,
        RequestError as RequestError,
        RuntimeUnavailable as RuntimeUnavailable,
    )
    from onnxpad.explaining import Explanation as Explanation, explain as explain
    from onnxpad.guarding import (
        Guarding as Guarding,
        GuardRefused as GuardRefused,
        guard as guard,
        guarded as guarded,
    )
    from onnxpad.inspection import (
        Finding as Finding,
        Inspection as Inspection,
        PaddedNode as PaddedNode,
        inspect as inspect,
    )
    from onnxpad.measuring import Measurement as Measurement, measure as measure
    from onnxpad.model.files.delivery import save as save
    from onnxpad.model.files.onnx_file import load as load
    from onnxpad.padding.chain import Skip as Skip
    from onnxpad.porting import PortedNode as PortedNode, Porting as Porting, port as port
    from onnxpad.resolving import Resolution as Resolution, resolve as resolve
    from onnxpad.retargeting import Retargeting as Retargeting, retarget as retarget
    from onnxpad.retargeting.plan import Plan as Plan, PlanEntry as PlanEntry
    from onnxpad.rewriting.for_target.report import NodeVerdict as NodeVerdict
    from onnxpad.rewriting.pipeline import Change as Change, Refusal as Refusal
    from onnxpad.rewriting.rewrite import Rewriting as Rewriting, rewrite as rewrite
    from onnxpad.validation import (
        Validation as Validation,
        Verdict as Verdict,
        validate as validate,
    )


__version__ = "0.1.0"

_HOMES = {
    "onnxpad.batch.each": "Batch Outcome each",
    "onnxpad.diagnosis": "Diagnosis diagnose",
    "onnxpad.errors": "InternalError LimitMet ModelError OnnxpadError RequestError "
    "RuntimeUnavailable",
    "onnxpad.explaining": "Explanation explain",
    "onnxpad.guarding": "GuardRefused Guarding guard guarded",
    "onnxpad.inspection": "Finding Inspection PaddedNode inspect",
    "onnxpad.measuring": "Measurement measure",
    "onnxpad.model.files.delivery": "save",
    "onnxpad.model.files.onnx_file": "load",
    "onnxpad.padding.chain": "Skip",
    "onnxpad.porting": "PortedNode Porting port",
    "onnxpad.resolving": "Resolution resolve",
    "onnxpad.retargeting": "Retargeting retarget",
    "onnxpad.retargeting.plan": "Plan PlanEntry",
    "onnxpad.rewriting.for_target.report": "NodeVerdict",
    "onnxpad.rewriting.pipeline": "Change Refusal",
    "onnxpad.rewriting.rewrite": "Rewriting rewrite",
    "onnxpad.validation": "Validation Verdict validate",
}
__all__ = ["__version__"]
__all__ += [name for names in _HOMES.values() for name in names.split()]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used (PEP 562): onnx and numpy wait until then."""
    from importlib import import_module  # keeps the namespace free of it

    for home, names in _HOMES.items():
        if name in names.split():
            globals()[name] = getattr(import_module(home), name)
            return globals()[name]
    raise AttributeError(f"module 'onnxpad' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Functions alone, which keeps help(onnxpad) short; `__all__` has the classes as well."""
    return [name for name in __all__ if name[0].islower() or name == "__version__"]
