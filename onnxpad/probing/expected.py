"""What a model computes by the ONNX text, and whether onnxruntime agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import LimitMet, OnnxpadError, RuntimeUnavailable, headline
from onnxpad.model.comparing.networks import Network, label_of, open_network
from onnxpad.model.comparing.pieces import cut
from onnxpad.model.graph.attributes import read_attributes
from onnxpad.model.opened import Model
from onnxpad.padding.operators import OPERATORS, Kind, plain_domain
from onnxpad.probing.agreement import worst
from onnxpad.proof.alone import computed, has_rule
from onnxpad.proof.endings import Undecided
from onnxpad.sessions import RunFailure, Settings, open_session

Array = NDArray[Any]
_PADDED = (Kind.CONVOLUTION, Kind.TRANSPOSED, Kind.MAX, Kind.AVERAGE, Kind.LP, Kind.PAD)
_EVALUATED = {key for key, one in OPERATORS.items() if one.kind in _PADDED and has_rule(*key)}
"""Domains and names of the operators that are computed in float64."""


class NotEvaluable(OnnxpadError):
    """A node that can neither be evaluated by the ONNX text nor run alone."""


class Expected(NamedTuple):
    """Outputs by name; nothing, and the reason, where the text gives them no meaning."""

    outputs: Mapping[str, Array]
    reason: str


@processes.limited()
def expected(model: Model, feeds: Mapping[str, Array]) -> Expected:
    """The outputs of a model by the ONNX text.

    Padded operators are evaluated in float64, every other one alone in onnxruntime without
    optimisations. Raises RuntimeUnavailable where an operator needs onnxruntime and there is none.
    """
    network = open_network(model)
    try:
        return Expected(evaluated(network, feeds, network.outputs), "")
    except (RuntimeUnavailable, LimitMet):
        raise
    except OnnxpadError as reason:
        return Expected({}, headline(reason))


def evaluated(
    network: Network, feeds: Mapping[str, Array], names: Sequence[str]
) -> dict[str, Array]:
    """The tensors `names` in the types of the model, computed node by node.

    A value is forgotten behind its last reader. Raises NotEvaluable where a node can neither be
    evaluated nor run, RuntimeUnavailable as `expected` does.
    """
    needed = network.behind(names)
    readers = Counter(name for index in needed for name in network.names_read([index]))
    readers.update(names)
    values: dict[str, Array] = dict(feeds)
    with np.errstate(all="ignore"):  # infinities and NaN are values like others here
        for index in needed:
            made = _computed(network, index, values)
            values |= {name: made[name] for name in made if readers[name]}
            for name in network.names_read([index]):
                readers[name] -= 1
                if not readers[name]:
                    values.pop(name, None)
    return {name: _value(network, values, name) for name in names}


def _value(network: Network, values: Mapping[str, Array], name: str) -> Array:
    value = values[name] if name in values else network.constant(name)
    if value is None:
        raise NotEvaluable(f"tensor '{name}' is not known here")
    return value


def _computed(network: Network, index: int, values: Mapping[str, Array]) -> Mapping[str, Array]:
    """The outputs of one node."""
    node = network.nodes[index]
    domain = plain_domain(node.domain)
    if (domain, node.op_type) not in _EVALUATED:
        feeds = network.reads([index], values)
        outputs = [name for name in node.output if name]
        results = _run(cut(network, [index], feeds, outputs), feeds)
        if isinstance(results, RunFailure):
            raise NotEvaluable(f"onnxruntime cannot run {label_of(node)} alone: {results}")
        return results
    inputs = [_value(network, values, name) if name else None for name in node.input]
    facts = (node.op_type, domain, network.opsets.get(domain, 1), read_attributes(node))
    try:
        made = computed(*facts, inputs, len(node.output))
    except Undecided as reason:
        raise NotEvaluable(f"{label_of(node)}: {reason}") from reason
    return {name: one for name, one in zip(node.output, made, strict=False) if name}


def _run(network: Network, feeds: Mapping[str, Array]) -> dict[str, Array] | RunFailure:
    session = open_session(network.serialised(), Settings(folder=network.folder, threads=1))
    return session if isinstance(session, RunFailure) else session.run(feeds)


@processes.limited()
def onnxruntime_agrees(model: Model, feeds: Mapping[str, Array], right: Mapping[str, Array]) -> str:
    """What onnxruntime without optimisations makes of the model, as a predicate: 'runs it'."""
    try:
        ran = _run(open_network(model), feeds)
    except RuntimeUnavailable:
        return "is not installed here"
    if isinstance(ran, RunFailure):
        return f"does not {ran.stage} it: {ran}"
    if not right:
        return "runs it"
    return "computes the same" if worst(ran, right, feeds)[1].within else "computes something else"
