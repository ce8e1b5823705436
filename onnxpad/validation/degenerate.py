"""Sizes at which a model says nothing: windows of padding alone, and what they do to outputs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network

Array = NDArray[Any]
# A float32 or float64 beyond this came from the lowest float, not from data of ordinary size.
HUGE = 1e37


@cache
def max_pools(network: Network) -> tuple[str, ...]:
    """Results of MaxPools that may have windows of padding alone: those that pad, or round up."""
    padded = {name for n in network.nodes if n.op_type == "Pad" for name in n.output}
    found = []
    for index, node in enumerate(network.nodes):
        if node.op_type != "MaxPool" or not node.output or not node.output[0]:
            continue
        facts = network.operation(index).attributes
        same = str(facts.get("auto_pad", "")).startswith("SAME")
        if same or any(facts.get("pads", ())) or facts.get("ceil_mode") or node.input[0] in padded:
            found.append(node.output[0])
    return tuple(found)


def degenerate(network: Network, results: Mapping[str, Array]) -> str:
    """Why these results of the model say little about it, or '' where they do.

    onnxruntime 1.31.1 gives the lowest float for a MaxPool window without a real cell, and -inf
    where a Pad(-inf) stands in front; later layers make huge numbers or NaN of both.
    """
    for name in max_pools(network):
        if name in results and _lost(results[name], pooled=True):
            label = network.operation(network.producers[name]).label
            return f"{label} has windows that hold padding alone"
    for name in network.outputs:
        value = results[name]
        if value.dtype != object and value.size == 0:
            return f"output '{name}' is empty, of shape {list(value.shape)}"
        if _lost(value, pooled=False):
            return f"output '{name}' holds NaN, infinities or numbers beyond {HUGE:g}"
    return ""


def _lost(value: Array, *, pooled: bool) -> bool:
    if value.dtype.kind != "f" or value.size == 0:
        return False
    if pooled:
        return bool((value <= np.finfo(value.dtype).min).any())
    limit = min(HUGE, float(np.finfo(value.dtype).max))
    with np.errstate(invalid="ignore"):
        return not bool((np.abs(value) < limit).all())
