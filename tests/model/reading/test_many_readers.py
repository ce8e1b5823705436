"""One Pad that many operators read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading import readers_for_fusion
from onnxpad.model.reading.chains import ChainReader
from onnxpad.model.reading.pads import read_pad
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import Kind
from tests.models.tiny import tiny

PADS = "int64[6] p = {0, 0, 1, 0, 0, 1}"


def fan(count: int, *, made: bool = False) -> str:
    """A Pad and its readers, unlike each other; `made` weights are what a node writes."""
    rows = [f"y{n} = Conv <dilations = [{n}]> (a, w)" for n in range(1, count)]
    if made:
        rows = [f"w{n} = Relu (w) {row[:-2]}w{n})" for n, row in enumerate(rows, 1)]
    return " ".join(["a = Pad (x, p)", *rows, "y = Conv (a, w)"])


def reads(monkeypatch: pytest.MonkeyPatch, count: int) -> int:
    """How often a chain is read of a Pad with so many readers."""
    seen: list[object] = []
    plain = ChainReader.read

    def counted(self: ChainReader, *asked: object) -> object:
        seen.append(asked)
        return plain(self, *asked)  # type: ignore[arg-type]

    monkeypatch.setattr(ChainReader, "read", counted)
    survey = Survey(tiny(fan(count), "float[1,1,99]", constants=PADS))
    monkeypatch.undo()
    chains = [site.chain for site in survey.sites_now() if site.chain.op.kind is not Kind.PAD]
    assert len(chains) == count
    assert {len(chain.around.beside) for chain in chains} == {count - 1}
    return len(seen)


def test_readers_of_one_pad_are_read_a_few_times_each(monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (10, 40):
        assert reads(monkeypatch, count) <= 4 * count


def test_a_reader_is_seen_with_what_was_made_before_it() -> None:
    *_, last = Survey(tiny(fan(5, made=True), "float[1,1,99]", constants=PADS)).sites_now()
    assert [one.weight.shape for one in last.chain.around.beside] == [(1, 1, 3)] * 4


def test_each_of_many_pads_in_a_row_is_asked_once_for_what_it_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of the 64 in front of it asked anew, which took 5,000 of them 8 s for each reading."""
    asked: list[object] = []
    plain = read_pad

    def counted(*given: object) -> object:
        asked.append(given)
        return plain(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(readers_for_fusion, "read_pad", counted)
    row = " ".join(f"t{n + 1} = Pad (t{n}, p)" for n in range(100)).replace("t0,", "x,")
    Survey(tiny(f"{row} y = Conv (t100, w)", "float[1,1,9]", constants=PADS))
    assert len(asked) <= 100


def test_a_row_of_pads_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each Pad looks at what reads those behind it, 64 at most."""
    asked: list[str] = []
    direct = readers_for_fusion._direct  # noqa: SLF001

    def counted(context: Context, name: str) -> Iterator[tuple[Context, Node]]:
        asked.append(name)
        return direct(context, name)

    monkeypatch.setattr(readers_for_fusion, "_direct", counted)
    row = " ".join(f"t{n + 1} = Pad (t{n}, p)" for n in range(100))
    text = f"t0 = Relu (x) {row} y = MaxPool <kernel_shape = [3]> (t100)"
    found = [site.chain for site in Survey(tiny(text, "float[1,1,9]", constants=PADS)).sites_now()]
    assert len(found) == 101
    assert [bool(chain.around.behind) for chain in found[:100]] == [False] * 36 + [True] * 64
    assert len(asked) < 4 * 100  # 64 for each where every Pad walks them again
