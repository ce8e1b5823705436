"""One padded node as a model of its own, padded in another way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from onnxpad.chain import Chain
from onnxpad.errors import InternalError
from onnxpad.graph.comparison.cutting import cut
from onnxpad.graph.comparison.networks import Network
from onnxpad.graph.editing.session import Session


def variant(
    network: Network,
    indices: Sequence[int],
    inputs: Mapping[str, np.dtype[Any]],
    outputs: Sequence[str],
    change: Callable[[Chain], Chain],
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> Network:
    """The nodes at `indices` alone, the last of them padded as `change` says.

    `inputs` are element types by name, `shapes` those of weights that the model is fed: kernels
    are read from them.
    """
    part = cut(network, indices, inputs, outputs)
    for value in part.model.graph.input:
        for size in (shapes or {}).get(value.name, ()):
            value.type.tensor_type.shape.dim.add().dim_value = size
    made = network.nodes[indices[-1]].output[0]
    session = Session(part.model)
    site = next((one for one in session.sites() if made in one.node.outputs), None)
    if site is None:
        raise InternalError(f"the node that makes '{made}' is not padded where it stands alone")
    after = change(site.chain)
    if after == site.chain:
        return part
    session.change(site, after)
    return Network(session.finish(), network.folder)
