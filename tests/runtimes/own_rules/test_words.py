"""Words of target files mean what they say: laws on drawn operators, judged by the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxpad.errors import RequestError
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.runtimes.conditions.words import WORDS, condition_of
from tests.models.text import text_model
from tests.oracle.windows import Window, dilated, place_windows

OPSET = 19
SIZES = range(18, 30)
"""Twelve sizes in a row: every stride that is drawn divides them."""
Sides = list[tuple[int, int]]


@dataclass(frozen=True)
class Drawn:
    op: str
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    sizes: tuple[int, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    channels: int = 4
    group: int = 1

    @property
    def windows(self) -> list[Window]:
        """As the oracle places them; ValueError if no window fits."""
        names = ("pads", "auto_pad", "ceil_mode")
        return list(
            place_windows(
                self.sizes,
                self.kernel,
                strides=self.strides,
                dilations=self.dilations,
                **{k: self.attributes[k] for k in names if k in self.attributes},
            )
        )

    @property
    def sides(self) -> Sides:
        """The pads in cells; what a transposed convolution crops."""
        if self.op == "Pad":
            pads = self.attributes["pads"]
            half = len(pads) // 2
            return list(zip(pads[:half], pads[half:], strict=True))
        if self.op != "ConvTranspose":
            return [(one.begin, one.end) for one in self.windows]
        same = self.attributes.get("auto_pad", "NOTSET")
        pads = self.attributes.get("pads", [0] * 2 * len(self.kernel))
        found = []
        for axis, (k, s, d) in enumerate(
            zip(self.kernel, self.strides, self.dilations, strict=True)
        ):
            total = max(0, dilated(k, d) - s)
            if "output_shape" in self.attributes:
                full = (self.sizes[axis] - 1) * s + dilated(k, d)
                total = full - self.attributes["output_shape"][axis]
            elif same == "NOTSET":
                found.append((pads[axis], pads[axis + len(self.kernel)]))
                continue
            elif same == "VALID":
                total = 0
            begin = total // 2 if same == "SAME_UPPER" else total - total // 2
            found.append((begin, total - begin))
        return found

    def model(self, *, named: bool = False) -> onnx.ModelProto:
        spatial = [f"d{i}" for i in range(len(self.sizes))] if named else list(self.sizes)
        inputs, constants = ["x"], []
        attributes: dict[str, Any] = {"strides": self.strides, "dilations": self.dilations}
        shape = [1, self.channels, *spatial]
        if self.op == "Pad":
            shape, attributes = spatial, {}
            constants = [numpy_helper.from_array(np.array(self.attributes["pads"]), "pads")]
        elif self.op.startswith("Conv"):
            first = (self.channels, 6) if self.op == "ConvTranspose" else (6, self.channels)
            first = (first[0], first[1] // self.group)
            weight = np.ones((*first, *self.kernel), np.float32)
            constants = [numpy_helper.from_array(weight, "w")]
            attributes["group"] = self.group
        else:
            attributes["kernel_shape"] = self.kernel
        if self.op != "Pad":
            attributes |= self.attributes
        inputs += [one.name for one in constants]
        node = helper.make_node(self.op, inputs, ["y"], **attributes)
        values = [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(shape)),
        ]
        graph = helper.make_graph([node], "g", values[:1], values[1:], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])

    def chain(self, *, named: bool = False) -> Chain:
        return next(iter(Survey(self.model(named=named)).sites_now())).chain


def _draw(rng: np.random.Generator) -> Drawn:
    op = str(rng.choice(["Conv", "ConvTranspose", "MaxPool", "AveragePool", "Pad"]))
    rank = int(rng.integers(1, 3))

    def pick(least: int, most: int, many: int) -> tuple[int, ...]:
        return tuple(map(int, rng.integers(least, most + 1, many)))

    if op == "Pad":
        axes = rank + 2
        pads = pick(0, 2, 2 * axes) if rng.random() < 0.8 else pick(-1, 4, 2 * axes)
        return Drawn(op, (), (), (), pick(8, 14, axes), {"pads": list(pads)})
    kernel, strides, dilations = pick(1, 5, rank), pick(1, 4, rank), pick(1, 2, rank)
    attributes: dict[str, Any] = {}
    way = rng.choice(["pads", "even", "SAME_UPPER", "SAME_LOWER", "VALID", "none", "shape"])
    most = min(kernel) - 1 if "Pool" in op else 4
    if way == "pads":
        attributes["pads"] = list(pick(0, most, 2 * rank))
    elif way == "even":
        attributes["pads"] = list(pick(0, most, rank) * 2)
    elif way == "shape" and op == "ConvTranspose":
        attributes["output_shape"] = list(pick(8, 12, rank))
    elif way in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        attributes["auto_pad"] = str(way)
    if "Pool" in op and rng.random() < 0.5:
        attributes["ceil_mode"] = 1
    group = int(rng.choice([1, 2, 4])) if op == "Conv" else 1
    channels = 4
    if op == "Conv" and group == 4 and rng.random() < 0.5:
        channels = 8
    return Drawn(
        op, kernel, strides, dilations, pick(18, 29, rank), attributes, channels, min(group, 2)
    )


def _draws(seed: int, count: int) -> Iterator[Drawn]:
    rng = np.random.default_rng(seed)
    while count:
        drawn = _draw(rng)
        try:
            drawn.sides  # noqa: B018 - no window fits into some
        except ValueError:
            continue
        count -= 1
        yield drawn


def _attribute(name: str, *values: Any) -> Callable[[Drawn], bool]:
    return lambda one: one.op != "Pad" and one.attributes.get(name) in values


def _ceil_rests(one: Drawn) -> list[tuple[int, Window]]:
    """How far the last window of ceil_mode starts into the padded axis, for each axis."""
    if not one.attributes.get("ceil_mode"):
        return []
    found = []
    for window in one.windows:
        room = window.size + window.begin + window.end - dilated(window.kernel, window.dilation)
        found.append((room, window))
    return found


ORACLE: dict[str, Callable[[Drawn], bool]] = {
    "auto_pad": _attribute("auto_pad", "VALID", "SAME_UPPER", "SAME_LOWER"),
    "same": _attribute("auto_pad", "SAME_UPPER", "SAME_LOWER"),
    "same_upper": _attribute("auto_pad", "SAME_UPPER"),
    "same_lower": _attribute("auto_pad", "SAME_LOWER"),
    "valid": _attribute("auto_pad", "VALID"),
    "ceil_mode": _attribute("ceil_mode", 1),
    "output_shape": lambda one: "output_shape" in one.attributes,
    "padded": lambda one: any(map(any, one.sides)),
    "asymmetric": lambda one: any(begin != end for begin, end in one.sides),
    "negative_pads": lambda one: one.op == "Pad" and min(map(min, one.sides)) < 0,
    "pads_reach_kernel": lambda one: any(
        max(pads) >= k for pads, k in zip(one.sides, one.kernel, strict=False)
    ),
    "pads_over_half": lambda one: any(
        max(s) > k // 2 for s, k in zip(one.sides, one.kernel, strict=False)
    ),
    "last_window_dropped": lambda one: any(
        -(-room // w.stride) * w.stride >= w.size + w.begin for room, w in _ceil_rests(one)
    ),
    "last_window_cut": lambda one: any(room % w.stride for room, w in _ceil_rests(one)),
    "strided": lambda one: max(one.strides, default=1) > 1,
    "dilated": lambda one: max(one.dilations, default=1) > 1,
    "unequal_steps": lambda one: len(set(zip(one.strides, one.dilations, strict=True))) > 1,
    "kernel_of_one": lambda one: set(one.kernel) <= {1},
    "kernel_below_stride": lambda one: any(
        k < s for k, s in zip(one.kernel, one.strides, strict=True)
    ),
    "grouped": lambda one: one.group > 1,
    "depthwise": lambda one: one.group == one.channels > 1,
    "pads_asymmetric": lambda one: (
        one.op != "Pad"
        and "output_shape" not in one.attributes
        and any(begin != end for begin, end in one.sides)
        and "pads" in one.attributes
    ),
    "unequal_pads": lambda one: len({pad for side in one.sides for pad in side}) > 1,
    "kernel_even": lambda one: any(k % 2 == 0 for k in one.kernel),
    "one_d": lambda one: len(one.kernel) == 1,
    "two_d": lambda one: len(one.kernel) == 2,
}
NUMBERS: dict[str, Callable[[Drawn], int]] = {
    "pad_above": lambda one: max(map(max, one.sides)),
    "axes_above": lambda one: sum(map(any, one.sides)),
    "kernel_above": lambda one: max(one.kernel, default=0),
    "stride_above": lambda one: max(one.strides, default=0),
    "dilation_above": lambda one: max(one.dilations, default=0),
    "opset_above": lambda _: OPSET,
    "input_axes_above": lambda one: len(one.sizes) + 2 * (one.op != "Pad"),
}
OF_WINDOWS: dict[str, Callable[[Window], bool]] = {
    "end_above_begin": lambda one: one.end > one.begin,
    "pads_off_centre": lambda one: one.begin != (one.begin + one.end) // 2,
    "begins_off_centre": lambda one: one.begin != (one.kernel - 1) // 2,
}
"""Of Conv and pools: words that hold if this does for some axis."""
RANK_UNKNOWN = {"one_d", "two_d"}
"""A Pad node slides along no axis."""


def _answers(drawn: Drawn, chain: Chain) -> Iterator[tuple[str, int | None, bool | None]]:
    for name in ORACLE:
        if drawn.op != "Pad" or name not in RANK_UNKNOWN:
            yield name, None, WORDS[name].holds(chain)
    for name, threshold in product(NUMBERS, (0, 1, 3)):
        yield name, threshold, WORDS[name].holds(chain, threshold)


def _expected(drawn: Drawn, name: str, threshold: int | None) -> bool:
    if threshold is None:
        return ORACLE[name](drawn)
    return NUMBERS[name](drawn) > threshold


@pytest.mark.parametrize("seed", range(4))
def test_a_word_says_what_the_oracle_says(seed: int) -> None:
    for drawn in _draws(seed, 100):
        for name, threshold, answer in _answers(drawn, drawn.chain()):
            assert answer is _expected(drawn, name, threshold), (name, threshold, drawn)


@pytest.mark.parametrize("seed", range(4))
def test_with_open_sizes_a_word_holds_if_it_does_at_every_size(seed: int) -> None:
    for drawn in _draws(seed, 40):
        if drawn.op == "Pad" or "output_shape" in drawn.attributes:
            continue
        sized = [replace(drawn, sizes=sizes) for sizes in product(SIZES, repeat=len(drawn.sizes))]
        sized = sized if len(sized) < 20 else [*sized[:: len(sized) // 16 + 1], drawn]
        for name, threshold, answer in _answers(drawn, drawn.chain(named=True)):
            found = {_expected(one, name, threshold) for one in sized}
            if answer is not None:
                assert found == {answer}, (name, threshold, drawn)
            elif len(drawn.sizes) == 1:
                assert len(found) == 2, (name, threshold, drawn)


@pytest.mark.parametrize("name", OF_WINDOWS)
def test_a_word_about_one_axis_holds_if_it_does_for_some_axis(name: str) -> None:
    found = set()
    for drawn in _draws(5, 100):
        if drawn.op not in ("Pad", "ConvTranspose"):
            expected = any(map(OF_WINDOWS[name], drawn.windows))
            found.add(expected)
            assert WORDS[name].holds(drawn.chain()) is expected, drawn
    assert found == {True, False}


def test_values_are_what_a_threshold_is_compared_with() -> None:
    for drawn in _draws(9, 60):
        chain = drawn.chain()
        for name, number in NUMBERS.items():
            assert list(WORDS[name].values(chain)) == [number(drawn)], (name, drawn)


def test_what_hangs_on_an_open_output_shape_is_not_known() -> None:
    drawn = Drawn("ConvTranspose", (3,), (2,), (1,), (8,), {"output_shape": [16]})
    assert WORDS["asymmetric"].holds(drawn.chain()) is True
    assert WORDS["asymmetric"].holds(drawn.chain(named=True)) is None
    assert list(WORDS["pad_above"].values(drawn.chain(named=True))) == []


_W = "float[1,1,3] w = {1, 2, 3}"


def _examples() -> dict[str, dict[bool, Chain]]:
    """By word the last padded node of the model of which it holds, and of the other."""
    found: dict[str, dict[bool, Chain]] = {}
    word = ""
    for line in Path(__file__).with_name("words.txt").read_text("utf-8").splitlines():
        if line.startswith("  "):
            nodes, *more = line[4:].split(" | ")
            inputs, constants, outputs = (*more, "", "", "")[:3]
            model = text_model(
                nodes,
                inputs or "float[1,1,8] x",
                constants="" if constants == "none" else constants or _W,
                opset=OPSET,
                outputs=outputs or "y",
            )
            found[word][line[2] == "+"] = list(Survey(model).sites_now())[-1].chain
        elif line[0] != "#":
            word = line
            found[word] = {}
    return found


EXAMPLES = _examples()
IN_TARGETS_ALONE = {
    *("behind_quantised", "declared_otherwise", "feeds_max_pools", "from_pytorch"),
    *("scales_listed", "weight_int8", "weight_off_middle"),
}
"""Words about what stands around a node or about stored weights; tests of targets hold them."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_word_holds_of_its_example_and_not_of_the_other(name: str) -> None:
    assert {holds: WORDS[name].holds(chain) for holds, chain in EXAMPLES[name].items()} == {
        True: True,
        False: False,
    }


def test_every_word_is_held_against_something() -> None:
    held = {*ORACLE, *NUMBERS, *OF_WINDOWS, *EXAMPLES, *IN_TARGETS_ALONE}
    assert WORDS.keys() == {*held, "opset_below", "input_axes_below"}
    chain = EXAMPLES["bias"][True]
    assert WORDS["input_axes_below"].holds(chain, 4)
    assert not WORDS["input_axes_below"].holds(chain, 3)
    assert WORDS["opset_below"].holds(chain, OPSET + 1)
    assert not WORDS["opset_below"].holds(chain, OPSET)


@pytest.mark.parametrize("name", WORDS)
def test_a_word_and_its_negation_are_sentences_that_differ(name: str) -> None:
    word = WORDS[name]
    assert word.text != word.negation
    assert "not (" not in word.negation
    assert ("N" in word.text.split()) is word.takes_number


def test_terms_hold_together() -> None:
    chain = Drawn("Conv", (3,), (1,), (1,), (8,), {"pads": [1, 2]}).chain()
    assert condition_of(["asymmetric", ("not", "depthwise"), ("pad_above", 1)]).holds(chain)
    assert not condition_of(["asymmetric", ("pad_above", 2)]).holds(chain)


@pytest.mark.parametrize(
    "terms",
    [[], ["asymetric"], [("not", "wrapped")], ["pad_above"], [("same", 3)], [("pad_abov", 3)]],
)
def test_a_term_that_is_none_is_refused(terms: list[Any]) -> None:
    with pytest.raises(RequestError):
        condition_of(terms)
