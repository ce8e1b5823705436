"""Where onnxruntime would run each padded node, read from a session that it opens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from onnxpad.errors import ModelError
from onnxpad.graph.models import Opened, named_copy
from onnxpad.graph.reading.ordering import Address
from onnxpad.graph.reading.survey import Site
from onnxpad.runtime import RunFailure, Settings, assignments

Device = Literal["cpu", "cuda"]


def placed(
    opened: Opened, sites: Iterable[Site], selected: Callable[[Address], bool], device: Device
) -> dict[str, str]:
    """The provider of each padded node that onnxruntime assigned, by the node's label.

    Nodes of bodies and functions are found where their names are unique. Raises ModelError where
    onnxruntime refuses the model and RuntimeUnavailable where there is no such device.
    """
    wanted = [site for site in sites if selected(site.address)]
    keys = {site.address.key: f"onnxpad/{site.address.key}" for site in wanted if _is_main(site)}
    model, folder = named_copy(opened, keys)
    found = assignments(model, Settings(device=device, folder=folder))
    if isinstance(found, RunFailure):
        raise ModelError(f"onnxruntime does not open it on {device}: {found.reason}")
    providers = {
        site.address.label: found.get(
            keys[site.address.key] if _is_main(site) else site.node.name, ""
        )
        for site in wanted
    }
    return {label: provider for label, provider in providers.items() if provider}


def _is_main(site: Site) -> bool:
    return site.address.scope == ""
