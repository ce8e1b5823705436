"""Passes that go together: what people want, and the passes that do it, in their order."""

from __future__ import annotations

from dataclasses import dataclass

from onnxpad.padding.forms import Form


@dataclass(frozen=True, slots=True)
class Recipe:
    """A job, the passes for it in their order, and the forms that are gone then."""

    job: str
    passes: tuple[str, ...]
    forms: tuple[Form, ...]

    @property
    def options(self) -> str:
        """The passes as the command line takes them."""
        return " ".join(f"--pass {name}" for name in self.passes)


RECIPES = (
    Recipe(
        "no auto_pad, transposed convolutions included",
        ("plain-transpose", "explicit-pads"),
        (Form.AUTO_PAD,),
    ),
    Recipe(
        "no auto_pad, though sizes are not known",
        ("plain-transpose", "runtime-pads", "explicit-pads"),
        (Form.AUTO_PAD,),
    ),
    Recipe("equal begin and end pads", ("symmetric-pads",), (Form.ASYMMETRIC,)),
    Recipe(
        "equal pads, and no Pad node in front that the operator can replace",
        ("absorb-pad", "symmetric-pads-by-slice"),
        (Form.PAD_NODE, Form.ASYMMETRIC),
    ),
    Recipe(
        "transposed convolutions without pads, output_padding and output_shape",
        ("output-padding-by-kernel", "slice-transpose"),
        (Form.OUTPUT_PADDING, Form.OUTPUT_SHAPE, Form.ASYMMETRIC),
    ),
    Recipe(
        "transposed convolutions with equal pads and no output_padding, output_shape, auto_pad",
        ("plain-transpose", "output-padding-by-kernel", "symmetric-pads-by-slice"),
        (Form.AUTO_PAD, Form.OUTPUT_PADDING, Form.OUTPUT_SHAPE, Form.ASYMMETRIC),
    ),
    Recipe("no ceil_mode", ("floor-pool", "counted-padding"), (Form.CEIL_MODE,)),
    Recipe(
        "averages without padding of their own",
        ("counted-padding", "uncounted-padding"),
        (Form.COUNTS_PADDING, Form.IGNORES_PADDING),
    ),
    Recipe("Pad nodes instead of pads", ("uncounted-padding", "split-pads"), (Form.PADS,)),
    Recipe(
        "int8 deployments: no SAME that kernels place otherwise, no lowest value in ranges",
        ("border-pads", "split-pads"),
        (Form.PADS,),
    ),
    Recipe("pads instead of Pad nodes", ("absorb-pad",), (Form.PAD_NODE,)),
    Recipe(
        "Pad nodes of constants alone: no reflect, edge, wrap, no negative pads",
        ("plain-pad",),
        (Form.REFLECT, Form.EDGE, Form.WRAP, Form.NEGATIVE),
    ),
    Recipe(
        "auto_pad alone, SAME_UPPER or VALID where they pad the same (NNAPI, TFLite)",
        ("floor-pool", "auto-pads"),
        (Form.PADS,),
    ),
    Recipe("average pools as convolutions", ("average-by-conv",), (Form.AVERAGE,)),
)

ADVICE = {
    Form.INDICES: "nothing else gives Indices: split-pads and symmetric-pads-by-slice pad "
    "otherwise and keep them right, where the size is known",
    Form.CONTEXT: "the cells in front are data of the step before: no pads stand for them",
}
"""What to do about forms that no pass takes away."""
