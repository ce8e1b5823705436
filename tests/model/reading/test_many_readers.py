"""One Pad that many operators read, and many Pads one behind the other."""

from __future__ import annotations

import pytest

from onnxpad.model.reading import nearest_pad
from onnxpad.model.reading.chains import ChainReader
from onnxpad.model.reading.pads import read_pad
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import Kind
from tests.models.tiny import tiny

PADS = "int64[6] p = {0, 0, 1, 0, 0, 1}"


def fan(count: int) -> str:
    """A Pad and its readers, unlike each other."""
    rows = [f"y{n} = Conv <dilations = [{n}]> (a, w)" for n in range(1, count)]
    return " ".join(["a = Pad (x, p)", *rows, "y = Conv (a, w)"])


@pytest.mark.parametrize("last", ["Conv <group = 1> (a, w)", "MaxPool <kernel_shape = [3]> (a)"])
def test_readers_of_one_pad_are_read_once_each(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    plain = ChainReader.read

    def counted(self: ChainReader, *asked: object) -> object:
        seen.append(asked)
        return plain(self, *asked)  # type: ignore[arg-type]

    monkeypatch.setattr(ChainReader, "read", counted)
    text = f"{fan(40)} z = {last}"
    model = tiny(text, "float[1,1,99]", constants=PADS)
    model.graph.output.extend([model.graph.output[0]])
    model.graph.output[1].name = "z"
    sites = Survey(model).sites_now()
    assert len(seen) == len(sites) == 42
    chains = [site.chain for site in sites if site.chain.op.kind is not Kind.PAD]
    assert {chain.around.nearest.others for chain in chains} == {"MaxPool" in last or None}
    pools = [chain for chain in chains if chain.around.nearest.to_pools]
    assert len(pools) == (40 if "MaxPool" in last else 0)


def test_each_pad_of_a_row_is_read_once_for_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def counted(*given: object) -> object:
        asked.append(given)
        return read_pad(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(nearest_pad, "read_pad", counted)
    pads = [f"t{n + 1} = Pad (t{n}, p) c{n} = Conv (t{n + 1}, w)" for n in range(100)]
    row = " ".join(pads).replace("(t0,", "(x,")
    sites = Survey(tiny(f"{row} y = Relu (c99)", "float[1,1,9]", constants=PADS)).sites_now()
    (last,) = [site.chain for site in sites if site.address.label == "c99"]
    assert last.far_pad is not None
    assert last.far_pad.pads.flat == (0, 0, 100, 0, 0, 100)
    assert len(asked) == 299  # each as one of the row, and as the nearest of a Conv and of a Pad
