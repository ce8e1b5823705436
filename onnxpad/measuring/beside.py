"""Operators that a rewrite writes beside padded ones: one small model each."""

from __future__ import annotations

import tomllib
from pathlib import Path

from onnxpad.model.small_models import parsed
from onnxpad.probing.probes import Probe
from onnxpad.reproducing.specimens import values

_SHAPE = (1, 2, 4, 5)


def probes_beside() -> dict[str, Probe]:
    """The model of each operator of `beside.toml`, with an input."""
    stored = tomllib.loads((Path(__file__).parent / "beside.toml").read_text("utf-8"))
    feeds = {"x": values(_SHAPE, "float32", None)}
    return {
        name: Probe(parsed(stored["model"].replace("NODES", nodes), "y"), (feeds,), ("y",))
        for name, nodes in stored["nodes"].items()
    }
