"""What would settle a diagnosis that found nothing: a tensor of the framework, or a sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from onnxpad.diagnosis.fit import Fit, Fitting
from onnxpad.diagnosis.report import RemainingDifference
from onnxpad.diagnosis.runner import needed_nodes, needed_suspects
from onnxpad.diagnosis.search import Search
from onnxpad.geometry.size import Symbol
from onnxpad.model.graph.modules import module_returning
from onnxpad.padding.operators import Since
from onnxpad.retargeting.moved_pads import not_wrapped

Array = NDArray[Any]
_LIMITED = {
    *("Sigmoid", "HardSigmoid", "Softmax", "Tanh", "Clip", "Erf", "Softsign"),
    *("ArgMax", "ArgMin", "Hardmax", "Sign", "Greater", "Less", "Round", "Floor", "Ceil"),
}
_MOST_HALVED = 500
_MOVES = {"Flatten", "Reshape", "Identity", "Squeeze", "Unsqueeze", "Transpose", "Cast"}


def what_settles(
    fitting: Fitting, fit: Fit, difference: RemainingDifference | None, *, padding: bool = True
) -> str:
    """What to add to the reference, in words; '' where nothing is known that would tell more.

    A tensor in the middle of what is in question halves the question. Samples of one size hide
    what hangs on open sizes, and inputs without negative values what pads of 0 do. Where the cause
    is known not to be `padding`, all nodes are in question alike.
    """
    if (fit.unseen or fit.by_chance) and (before := before_limits(fitting)):
        return before
    tensor = "" if fit.search is None or not padding else _of_padding(fitting, fit.search)
    tensor = tensor or _of_nodes(fitting, difference)
    if fit.search is None or not padding:
        return tensor
    said = ", and ".join(one for one in (tensor, _sample(fitting)) if one)
    if not any(not_wrapped(suspect.chain) for suspect in fitting.suspects):
        return said
    raised = (
        f"diagnose what onnx.version_converter.convert_version(model, {Since.PAD_WRAP}) makes of "
        "the model, to try mode wrap as well"
    )
    return f"{said}; or {raised}" if said else raised


def before_limits(fitting: Fitting) -> str:
    """The input of an operator that gives a reference and has limits, which hide its input."""
    network = fitting.network
    for name in fitting.names:
        at = name
        while (index := network.producers.get(at)) is not None:
            node = network.nodes[index]
            at = node.input[0] if node.input else ""
            if node.op_type in _LIMITED:
                label = network.operation(index).label
                return (
                    f"save what the framework computes for '{at}', which {label} reads, in the "
                    f"reference too, because {node.op_type} gives the same where it is at its "
                    "limits; or add samples in which it is not"
                )
            if node.op_type not in _MOVES:
                break
    return ""


def _of_padding(fitting: Fitting, search: Search) -> str:
    """The result of the padded node that stands nearest to the middle of those in question."""
    network, runner = fitting.network, fitting.runner
    places = search.places(search.tried[search.best])
    found = []
    for number in sorted(places):
        name = network.nodes[runner.suspects[number].node].output[0]
        if name not in fitting.names:
            before = needed_suspects(network, runner.suspects, name) & places
            found.append((abs(2 * len(before) - len(places)), number))
    return _saving(fitting, runner.suspects[min(found)[1]].node) if found else ""


def _of_nodes(fitting: Fitting, difference: RemainingDifference | None) -> str:
    """The result of the node that stands nearest to the middle of what computes a difference.

    Of one node alone there is nothing to halve: what it has is to be compared.
    """
    network = fitting.network
    if difference is None or difference.tensor not in network.producers:
        return ""
    known = set(needed_nodes(network, [difference.after])) if difference.after else set()
    nodes = [n for n in needed_nodes(network, [difference.tensor]) if n not in known]
    if len(nodes) == 1:
        folded = network.nodes[nodes[0]].op_type == "Conv"
        also = ", and of a normalisation that was folded into it," if folded else ""
        return f"compare the weights and attributes of {difference.node}{also} with the framework's"
    inside = set(nodes)
    found = [
        (abs(2 * len(inside.intersection(needed_nodes(network, [name]))) - len(nodes)), index)
        for index in nodes[:_MOST_HALVED]
        for name in network.nodes[index].output[:1]
        if name and name not in fitting.names
    ]
    return _saving(fitting, min(found)[1]) if found else ""


def _saving(fitting: Fitting, index: int) -> str:
    """That the result of a node is to be saved, as what the framework knows it."""
    node, name = fitting.network.nodes[index], fitting.network.nodes[index].output[0]
    known, module = (
        [fitting.network.operation(index).label],
        module_returning(fitting.network.nodes, index),
    )
    known += [f"in PyTorch what module '{module}' returns"] if module else []
    if not module and node.op_type == "Conv":
        known.append("behind the normalisation that follows it, where that was folded into it")
    more = f" ({fitting.given_in.where(name)})" if len(fitting.samples) > 1 else ""
    return (
        f"save what the framework computes for '{name}' ({', '.join(known)}) in the reference "
        f"too{more}"
    )


def _sample(fitting: Fitting) -> str:
    signed = any(_has_negative(feeds) for feeds in fitting.samples)
    sizes = {tuple(value.shape for value in feeds.values()) for feeds in fitting.samples}
    types = fitting.network.input_types().values()
    is_open = any(isinstance(size, Symbol) for kind in types for size in (kind.dims or ())[2:])
    wanted = [
        "of another size" if is_open and len(sizes) == 1 else "",
        "" if signed else "with values of both signs",
    ]
    said = " ".join(one for one in wanted if one)
    return f"add a sample {said}" if said else ""


def _has_negative(feeds: Mapping[str, Array]) -> bool:
    return any(value.dtype.kind == "f" and bool((value < 0).any()) for value in feeds.values())
