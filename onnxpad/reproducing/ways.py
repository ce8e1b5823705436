"""The stored specimens: ways of padding, and others under which rows of targets fall."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from onnxpad.model.reading.survey import Survey
from onnxpad.model.small_models import with_output_shapes
from onnxpad.padding.chain import Chain
from onnxpad.probing.expected import expected
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.judge import judged as judged_nodes
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.judge import Judgement, failing
from onnxpad.runtimes.targets import Target

STORED = Path(__file__).parent / "specimens.toml"


class Way(NamedTuple):
    """A way of padding: how people call it, and the model that is padded so.

    The ways are the rows of the table of what works where, and what `measure` runs first.
    """

    title: str
    specimen: Specimen

    @property
    def operator(self) -> str:
        """The operator that pads, or that a Pad stands in front of."""
        return self.specimen.operator


@cache
def stored() -> Mapping[str, Any]:
    """What the file of specimens holds.

    ways: models with a title each.
    others: further models under which rows fall.
    telling: by target and row the model that shows it where the smallest one does not.
    """
    return tomllib.loads(STORED.read_text("utf-8"))


@cache
def ways() -> tuple[Way, ...]:
    """All, operator by operator."""
    titled = ((words["title"], words) for words in stored()["ways"])
    return tuple(
        Way(title, Specimen.of({name: words[name] for name in words if name != "title"}))
        for title, words in titled
    )


@cache
def specimens() -> tuple[Specimen, ...]:
    """Those of the ways, and the others."""
    return (*(way.specimen for way in ways()), *map(Specimen.of, stored()["others"]))


@cache
def chains_of(specimen: Specimen) -> tuple[Chain, ...]:
    """The padded nodes of the specimen's model; none where its words contradict each other."""
    try:
        survey = Survey(drafted(specimen)[0])
    except (ArithmeticError, ValueError):
        return ()
    return tuple(site.chain for site in survey.sites_now())


def rows_over(target: Target, specimen: Specimen) -> set[Row]:
    """The rows by which the target fails a node of the specimen's model."""
    return {row for chain in chains_of(specimen) for row in failing(target, chain)}


def showing(target: Target, address: str, row: Row) -> Specimen | None:
    """The specimen that shows a row of `target`, known by its `address`; None where none does.

    That is the one that was seen to show it, else of those of which the target fails by fewest
    other rows the smallest.
    """
    words = stored()["telling"].get(f"{target.runtime} {address}")
    told = [Specimen.of(words)] if words else specimens()
    fitting = [one for one in told if one.operator in row.operators]
    under = {one: len(rows) for one in fitting if row in (rows := rows_over(target, one))}
    return min(under, key=lambda one: (under[one], one.complexity), default=None)


def judged(target: Target, way: Way) -> Judgement:
    """The worst verdict of `inspect --target` on the nodes of a way's model."""
    verdicts = judged_nodes(_survey(way), Judge(target), lambda _: True)
    return max((judgement for _, _, judgement, _ in verdicts), key=lambda one: one.answer.rank)


@cache
def _survey(way: Way) -> Survey:
    model, inputs = drafted(way.specimen)
    return Survey(with_output_shapes(model, expected(model, inputs).outputs))
