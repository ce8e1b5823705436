"""What neither a proof nor runs of samples look at: where models may still differ, as warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnxpad.errors import few
from onnxpad.model.comparing.pieces import ambiguous_nodes
from onnxpad.model.graph.types import Type
from onnxpad.validation.report import ProofReport
from onnxpad.validation.samples import Pair
from onnxpad.validation.sizes import comparisons

_FEW = 4


def untried(pair: Pair, types: Mapping[str, Type], proof: ProofReport | None) -> Iterator[str]:
    """One sentence for each way in which equal results of samples say little."""
    if proof is not None and proof.is_formal:
        yield (
            "the samples are equal, but the changed parts are not the same formula, and other "
            f"inputs may tell them apart: {proof.reason}"
        )
    names = [f"'{name}'" for name in pair.before.replaceable if name in pair.after.replaceable]
    if names:
        whose = "its initializer" if len(names) == 1 else "their initializers"
        yield f"callers may give {few(names, _FEW)} in place of {whose}: only those values were run"
    labels = list(dict.fromkeys(n.label for one in pair.both() for n in comparisons(one)))
    if labels and any(_is_open(type_) for type_ in types.values()):
        yield (
            f"sizes of the inputs are compared ({few(labels, _FEW)}): at sizes that were not run "
            "the models may do something else"
        )
    known, ambiguous = (dict.fromkeys(ambiguous_nodes(one)) for one in pair.both())
    if labels := [one for one in ambiguous if one not in known]:
        yield (
            f"{few(labels, _FEW)} of the second model has auto_pad and pads, which runtimes read "
            "in three ways; see onnxpad explain auto-pad-with-pads"
        )


def _is_open(type_: Type) -> bool:
    return any(not isinstance(size, int) for size in type_.dims or ())
