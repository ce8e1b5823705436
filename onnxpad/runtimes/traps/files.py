"""What a file states that is wrong, may change, or that no runtime on the CPU can run."""

from __future__ import annotations

from onnxpad.geometry.size import show
from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import Chain, Shape
from onnxpad.padding.element_types import mixed_types
from onnxpad.padding.operators import MICROSOFT, OPTIMISED_DOMAINS, Since
from onnxpad.runtimes.onnxruntime import kernels
from onnxpad.runtimes.traps import chain_rule, rule

_MEASURED = "measured with onnxruntime 1.31.1 on the CPU"


@rule("declared-shape", "onnx 1.23.2 shape inference against onnxruntime 1.31.1, measured")
def declared_shape(chain: Chain, written: AsWritten) -> str | None:
    """The file declares an output shape that the node does not give.

    Files carry such shapes after an edit, or from onnx's shape inference, which before opset 22
    keeps a last window of ceil_mode that starts in the end padding, and which adds output_padding
    to a ConvTranspose with auto_pad SAME. Runtimes that plan memory by them fail or warn.
    """
    if not _contradict(written.declared, written.output_shape):
        return None
    why = ""
    if chain.ceil_mode and chain.opset < Since.WINDOWS_START_IN_DATA:
        why = "; before opset 22 onnx's shape inference keeps windows that start in the end padding"
    return f"the file declares {_text(written.declared)}, it is {_text(written.output_shape)}{why}"


@rule("computed-pads", "ONNX Operators.md, Pad-11: pads became an input", passes=["static-pads"])
def computed_pads(chain: Chain, written: AsWritten) -> str | None:
    """The pads are computed while the model runs.

    Many runtimes that compile models refuse them, even where they hang on constants alone, as
    TorchScript writes them. Where their numbers follow from constants and from sizes that are
    known, static-pads writes them as constants.
    """
    if not written.computed_pads:
        return None
    text = f"the pads come from '{written.computed_pads}', which is computed while the model runs"
    known = chain.pad is not None and not chain.pad.unclear
    return f"{text}, though its numbers are known" if known else text


@rule("overridable-pads", "ONNX IR.md: an initializer that is also an input is a default value")
def overridable_pads(chain: Chain, written: AsWritten) -> str | None:
    """The pads are an initializer that is also an input of the model.

    Whoever runs the model may give other pads, so they are no constant; onnxscript 0.7.2 folds
    them all the same (measured). Remove the input if nobody uses it.
    """
    del chain
    if not written.overridable_pads:
        return None
    return (
        f"the pads are the initializer '{written.overridable_pads}', which is also an input of the "
        "model and may be replaced"
    )


no_cpu_kernel = chain_rule(
    "no-cpu-kernel", f"{_MEASURED}, one node per element type and opset", target="onnxruntime"
)(kernels.no_cpu_kernel)


@chain_rule("mixed-types", "ONNX Operators.md, Conv: X, W and B are of one type T; " + _MEASURED)
def mixed_element_types(chain: Chain) -> str | None:
    """The data of a convolution has another element type than its weight.

    ONNX has one type for both, and the file is not valid; OpenCV and onnxruntime refuse to load it.
    Cast the weight in the file, or export the model again.
    """
    return mixed_types(chain)


@chain_rule("optimised-only", "onnxruntime docs/ContribOperators.md and its NhwcTransformer")
def optimised_only(chain: Chain) -> str | None:
    """The operator is one that only onnxruntime's optimiser makes (Nhwc..., nchwc, nhwc).

    It appears only in files that onnxruntime has optimised and saved, for one kind of machine.
    Use the model from before that step.
    """
    nhwc = chain.op.domain == MICROSOFT and chain.op.name.startswith("Nhwc")
    if not nhwc and chain.op.domain not in OPTIMISED_DOMAINS:
        return None
    return "only onnxruntime's optimiser writes this operator: use the model from before that step"


def _contradict(declared: Shape, found: Shape) -> bool:
    if declared is None or found is None:
        return False
    if len(declared) != len(found):
        return True
    pairs = zip(declared, found, strict=True)
    return any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs)


def _text(shape: Shape) -> str:
    return "[" + ", ".join(show(size) for size in shape or ()) + "]"
