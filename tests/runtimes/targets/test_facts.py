"""What targets say of the models in facts.txt, and what the runtimes do that are installed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import TensorProto, parser

from onnxpad import rewrite
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.running import verdicts_on
from tests.runtimes.targets.chains import answers

FACTS = Path(__file__).with_name("facts.txt")


class Fact(NamedTuple):
    """A model as ONNX text; `dims` are its open sizes, `said` has a word for each operator."""

    text: str
    target: str
    dims: dict[str, int | str]
    said: dict[str, str]

    @property
    def model(self) -> onnx.ModelProto:
        model: onnx.ModelProto = parser.parse_model(self.text)
        return model

    @property
    def options(self) -> dict[str, Any]:
        """The options of `inspect` and `rewrite` besides the target."""
        return {"dims": self.dims} if self.dims else {}


def facts() -> Iterator[Fact]:
    text = ""
    for line in FACTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            head, *words = line.strip().split(" | ")
            target, _, sizes = head.rstrip(")").partition(" (")
            dims = dict(one.split(" = ") for one in sizes.split(", ") if one)
            numbers = {name: int(n) if n.isdigit() else n for name, n in dims.items()}
            said = dict(word.rsplit(": ", 1) for word in words)
            yield Fact(text, target, numbers, said)
        elif not line.startswith("#"):
            text = line


@pytest.mark.parametrize("fact", [*facts()], ids=lambda fact: fact.target)
def test_a_fact_is_foreseen_and_a_rewrite_does_what_is_written(fact: Fact) -> None:
    said = dict(fact.said)
    written = said.pop("rewrite", None)
    if said:
        found = answers(fact.model, fact.target, **fact.options)
        assert {op: str(found.get(op)) for op in said} == said
    if written:
        done = rewrite(fact.model, target=fact.target, **fact.options)
        outcome = "no way" if done.unfit else "written" if done.changed else "same"
        assert outcome == written


def drawn_input(model: onnx.ModelProto, seed: int) -> dict[str, Any] | None:
    """Numbers below 0 for the only input; None where its type or its sizes are others."""
    kinds = [value.type.tensor_type for value in model.graph.input]
    sizes = [dim.dim_value for dim in kinds[0].shape.dim]
    if len(kinds) > 1 or kinds[0].elem_type != TensorProto.FLOAT or 0 in sizes:
        return None
    cells = np.random.default_rng(seed).permutation(int(np.prod(sizes))).reshape(sizes)
    return {model.graph.input[0].name: (-1 - cells).astype(np.float32)}


@pytest.mark.sweep
@pytest.mark.parametrize("target", RUNTIMES)
def test_a_runtime_that_is_installed_fails_where_it_is_written(target: str, tmp_path: Path) -> None:
    models, refused = {}, defaultdict(list)
    for number, fact in enumerate(facts()):
        given = drawn_input(fact.model, number) if fact.target == target else None
        if given is not None and "refuses" in fact.said.values():
            models[number] = fact.model, given
            refused[number].append(fact.text)
    verdicts = verdicts_on(RUNTIMES[target], models, tmp_path)
    assert [refused[number] for number, said in verdicts.items() if said == "ok"] == []
