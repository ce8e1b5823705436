"""Public threads about padding, rebuilt from their parameters, and what --target makes of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx

from tests.models.text import text_model


@dataclass(frozen=True)
class Thread:
    """A report: where it stands, the runtime and release, and a model with its parameters.

    `options` are those of rewrite beside the target. `no_way` says why it is not solved, where it
    is not; `right` that the release runs the model as it is. `by_source` says why nothing is run:
    the measure is then what the source or the report says that the runtime takes. `slow` says that
    it is right before, in a slower way. `mirrors` are pads that numpy is asked about.
    """

    where: str
    target: str | tuple[str, ...]
    nodes: str
    x: str
    constants: str = ""
    y: str = "float[] y"
    opset: int = 17
    options: Mapping[str, object] = field(default_factory=dict)
    no_way: str = ""
    right: bool = False
    by_source: str = ""
    slow: bool = False
    dtype: str = "float"
    mirrors: tuple[tuple[int, int], ...] = ()

    def model(self) -> onnx.ModelProto:
        """The model; weights that are named w with their shape are drawn."""
        stored: list[str] = []
        drawn: list[str] = []
        for one in filter(None, self.constants.split("; ")):
            (drawn if one.startswith("w[") else stored).append(one)
        model = text_model(
            self.nodes,
            inputs=f"{self.dtype}[{self.x}] x",
            outputs=self.y,
            constants=", ".join(stored),
            opset=self.opset,
        )
        if ", )" in self.nodes:  # an input that an empty name leaves out: the text has none
            model.graph.node[-1].input.append("")
        draw = np.random.default_rng(3)
        for number, one in enumerate(drawn):
            sizes = [int(size) for size in one.removeprefix("w[").rstrip("]").split(",")]
            values = draw.normal(size=sizes).astype(np.float32)
            name = "w" if not number else f"w{number}"
            model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
        return model


def _threads() -> Iterator[Thread]:
    text = Path(__file__).with_name("threads.toml").read_text("utf-8")
    for words in tomllib.loads(text)["thread"]:
        lists = {name: value for name, value in words.items() if isinstance(value, list)}
        yield Thread(**words | {name: tuple(value) for name, value in lists.items()})


THREADS = tuple(_threads())
