"""Words of target files mean what they say: of a model of each, and at every size of open ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.runtimes.conditions.words import WORDS
from tests.models.text import text_model

OPSET = 19
SIZES = range(18, 30)
"""Twelve sizes in a row: every stride that is drawn divides them."""


def read(text: str) -> Chain:
    """The last node that pads in a model of nodes | inputs | constants | outputs."""
    nodes, inputs, constants, outputs, *_ = (*map(str.strip, text.split("|")), "", "", "")
    weight = "float[1,1,3] w = {1, 2, 3}"
    model = text_model(
        nodes,
        inputs or "float[1,1,8] x",
        constants="" if constants == "none" else constants or weight,
        opset=OPSET,
        outputs=outputs or "y",
    )
    return list(Survey(model).sites_now())[-1].chain


def examples() -> Iterator[tuple[str, bool, str]]:
    word = ""
    for line in Path(__file__).with_name("words.txt").read_text("utf-8").splitlines():
        if line.startswith("  "):
            yield word, line[2] == "+", line[4:]
        elif line[0] != "#":
            word = line


EXAMPLES = tuple(examples())
IN_TARGETS_ALONE = {
    *("behind_quantised", "declared_otherwise", "from_pytorch"),
    *("scales_listed", "weight_int8", "weight_off_middle", "opset_above", "opset_below"),
}
"""Words about what stands around a node or about stored weights; tests of targets hold them."""


@pytest.mark.parametrize(("word", "holds", "text"), EXAMPLES)
def test_a_word_holds_of_its_example_and_not_of_the_other(
    word: str, holds: bool, text: str
) -> None:
    name, _, number = word.partition(" ")
    assert WORDS[name].holds(read(text), int(number) if number else None) is holds


def test_every_word_is_held_against_something() -> None:
    assert WORDS.keys() == {*IN_TARGETS_ALONE, *(word.partition(" ")[0] for word, *_ in EXAMPLES)}
    assert WORDS["opset_below"].holds(read("y = Conv (x, w)"), OPSET + 1)
    assert not WORDS["opset_above"].holds(read("y = Conv (x, w)"), OPSET)


def drawn(chance: Random) -> str:
    """A node that slides along one axis of open size."""
    op = chance.choice(("Conv", "ConvTranspose", "MaxPool", "AveragePool"))
    kernel, stride, dilation = chance.randint(1, 5), chance.randint(1, 4), chance.randint(1, 2)
    pads = [chance.randrange(kernel), chance.randrange(kernel)]
    ways = [f"pads = {pads}", *(f'auto_pad = "{one}"' for one in ("SAME_UPPER", "SAME_LOWER"))]
    words = [f"kernel_shape = [{kernel}], strides = [{stride}], dilations = [{dilation}]"]
    words += [chance.choice((*ways, 'auto_pad = "VALID"'))]
    words += ["ceil_mode = 1"] * (op.endswith("Pool") and chance.random() < 0.5)
    inputs = "x" if op.endswith("Pool") else "x, w"
    weight = f"float[1,1,{kernel}] w = {{{', '.join('1' * kernel)}}}"
    return f"y = {op} <{', '.join(words)}> ({inputs}) | float[1,1,SIZE] x | {weight}"


@pytest.mark.parametrize("seed", range(40))
def test_with_open_sizes_a_word_holds_if_it_does_at_every_size(seed: int) -> None:
    text = drawn(Random(seed))
    sized = [read(text.replace("SIZE", str(size))) for size in SIZES]
    for name, word in WORDS.items():
        if word.of_cells and name != "keeps_sizes":
            number = 1 if word.takes_number else None
            answer = word.holds(read(text), number)
            known = {word.holds(one, number) for one in sized}
            assert known == {answer} or (answer is None and len(known) == 2), (name, text)
