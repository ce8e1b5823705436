"""Which passes find something to do in a model, from one reading of it."""

from collections.abc import Iterable, Mapping

import onnx

from onnxpad import Skip
from onnxpad.model.editing.session import EditSession
from onnxpad.rewriting.passes import all_passes


def applying(
    model: onnx.ModelProto, names: Iterable[str], dims: Mapping[str, int | str] | None = None
) -> list[str]:
    """Those of `names` that make something of a node, and those that raise: it spares the rest a
    rewrite each. Laws that hold a pass back later are not looked at."""
    session = EditSession(model, dims=dims, owned=False)
    passes = all_passes()
    chains = [site.chain for site in session.sites_now()]
    found = []
    for name in names:
        try:
            if any(not isinstance(passes[name].rewrite(chain), Skip) for chain in chains):
                found.append(name)
        except Exception:  # noqa: BLE001 - the rewrite itself will show what it is
            found.append(name)
    return found
