"""What neither a proof nor runs of samples look at: where models may still differ, as warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from onnxpad.errors import few
from onnxpad.model.comparing.networks import Network, Operation, free_names
from onnxpad.model.comparing.pieces import ambiguous_nodes
from onnxpad.model.graph.types import Type
from onnxpad.validation.report import ProofReport
from onnxpad.validation.samples import Pair

_FEW, _LARGEST = 4, 1 << 20
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")


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
    opened = [f"'{name}'" for name, type_ in types.items() if _is_open(type_)]
    if opened and proof is not None and not labels:
        yield (
            f"sizes of {few(opened, _FEW)} are open, and nothing is proved of them: at sizes that "
            "were not run the models may differ; --dim runs another one"
        )
    if opened and labels:
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


def comparisons(network: Network) -> Iterator[Operation]:
    """Nodes that compare a number which only sizes decide."""
    sized: set[str] = set()
    for index, node in enumerate(network.nodes):
        read = free_names(node) - network.initializers.keys()
        if node.op_type in ("Shape", "Size") or (read and read <= sized):
            sized |= set(node.output)
            if node.op_type in _COMPARISONS and not node.domain:
                yield network.operation(index)


def compared_sizes(pair: Pair) -> tuple[int, ...]:
    """Numbers that sizes are compared with; a size that is one may be a case of its own."""
    found: list[int] = []
    for network in pair.both():
        for operation in comparisons(network):
            for name in operation.inputs:
                tensor = network.initializers.get(name)
                value = network.constant(name) if tensor and prod(tensor.dims) <= _FEW else None
                if value is not None and value.dtype.kind in "iuf":
                    found += [int(one) for one in value.ravel() if 0 < one < _LARGEST]
    return tuple(dict.fromkeys(found))[:_FEW]
