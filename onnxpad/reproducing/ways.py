"""The stored specimens: ways of padding, and others under which rows of targets fall."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from onnxpad.model.opened import open_model
from onnxpad.model.reading.survey import Survey
from onnxpad.model.small_models import Array, with_output_shapes
from onnxpad.padding.chain import Chain
from onnxpad.probing.expected import expected
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.verdicts import judged as judged_nodes
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.judge import Judgement, failing
from onnxpad.runtimes.targets import Target

STORED = Path(__file__).parent / "specimens.toml"


@dataclass(frozen=True, slots=True)
class Way:
    """A way of padding: how people call it, and the model that is padded so.

    The ways are the rows of the table of what works where, and what `measure` runs first.
    """

    title: str
    specimen: Specimen

    @property
    def name(self) -> str:
        """What files are called after it."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.casefold()).strip("-")

    @property
    def operator(self) -> str:
        """The operator that pads, or that a Pad stands in front of."""
        return self.specimen.operator

    @property
    def chains(self) -> tuple[Chain, ...]:
        """Its padded nodes, a Pad in front among them."""
        return chains_of(self.specimen)

    @property
    def chain(self) -> Chain:
        """The node that it is about."""
        return next(one for one in self.chains if one.op.title == self.operator)


@cache
def ways() -> tuple[Way, ...]:
    """All, operator by operator."""
    return tuple(
        Way(words["title"], Specimen.of({k: v for k, v in words.items() if k != "title"}))
        for words in _stored()["ways"]
    )


@cache
def specimens() -> tuple[Specimen, ...]:
    """Those of the ways, and the others."""
    others = (Specimen.of(words) for words in _stored()["others"])
    return (*(way.specimen for way in ways()), *others)


@cache
def _stored() -> Mapping[str, list[dict[str, Any]]]:
    return tomllib.loads(STORED.read_text("utf-8"))


@cache
def chains_of(specimen: Specimen) -> tuple[Chain, ...]:
    """The padded nodes of the specimen's model; none where its words contradict each other."""
    try:
        model, _ = drafted(specimen)
        survey = Survey(model)
    except (ArithmeticError, ValueError):
        return ()
    return tuple(site.chain for site in survey.sites_now())


def falls_under(target: Target, row: Row, specimen: Specimen) -> bool:
    """Whether the target fails a node of its model by this row."""
    return any(row in failing(target, chain) for chain in chains_of(specimen))


def smallest(target: Target, row: Row) -> Specimen | None:
    """Of the stored specimens of which `target` fails by `row` the smallest.

    One that fails by the fewest other rows comes first. None where there is none.
    """
    fitting = (one for one in specimens() if one.operator in row.operators)
    under = [one for one in fitting if falls_under(target, row, one)]
    return min(under, key=lambda one: (_rows(target, one), one.complexity), default=None)


def _rows(target: Target, specimen: Specimen) -> int:
    return len({row for chain in chains_of(specimen) for row in failing(target, chain)})


class WayFile(NamedTuple):
    """The model file of a way, with arrays for its inputs and the outputs by the ONNX text."""

    model: bytes
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]


@cache
def file_of(way: Way) -> WayFile:
    """The model of a way as a file whose outputs declare their shapes, and its arrays."""
    model, inputs = drafted(way.specimen)
    outputs = expected(model, inputs).outputs
    whole = with_output_shapes(model, outputs)
    return WayFile(whole.SerializeToString(deterministic=True), inputs, outputs)


def judged(target: Target, way: Way) -> Judgement:
    """The worst verdict of `inspect --target` on the nodes of a way's model file."""
    verdicts = judged_nodes(_survey(way), Judge(target), lambda _: True)
    return max((judgement for _, _, judgement, _ in verdicts), key=lambda one: one.answer.rank)


@cache
def _survey(way: Way) -> Survey:
    model = open_model(file_of(way).model).model
    return Survey(model)
