"""What a small file may make onnxpad compute: an answer or a reason in seconds."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from onnx import ModelProto, helper

import onnxpad
from onnxpad import ModelError, RequestError
from tests.models import unbounded
from tests.models.unbounded import chain, folded, pad, whole, window

SECONDS = 10
BIG = 2**31 - 1
HUGE = 2**62
"""Sizes of this order overflow int64 with the first product."""


class OutOfTimeError(BaseException):
    """Nothing in between catches it."""


@contextmanager
def within(seconds: float = SECONDS) -> Iterator[None]:
    """Fails what takes more processor time than this."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def ask(model: ModelProto, verb: str) -> str:
    """The reasons of a verb, joined; or that of its refusal."""
    with within():
        try:
            if verb == "inspect":
                return "; ".join(node.reason for node in onnxpad.inspect(model).nodes)
            found: onnxpad.Rewriting | onnxpad.Retargeting
            if verb.startswith("to "):
                found = onnxpad.retarget(model, to=verb[3:])
            else:
                found = onnxpad.rewrite(model, passes=verb)
            return "; ".join(skip.skip.reason for skip in found.skips)
        except ModelError as error:
            return str(error)


@within(0.05)
def endless() -> None:
    while True:
        pass


def test_what_does_not_end_would_be_noticed() -> None:
    with pytest.raises(OutOfTimeError):
        endless()


WIDE = "more than the 65,536 that onnxpad works out cell by cell"

WINDOWS: dict[str, tuple[Callable[[], ModelProto], str]] = {
    "average over 2^33 cells": (
        partial(window, "AveragePool", 2**33, pads=[1, 1]),
        "",
    ),
    "max over 2^62 cells": (partial(window, "MaxPool", HUGE, pads=[1, 1]), ""),
    "kernel of 2^31": (partial(window, "MaxPool", 2**40, BIG, strides=[3], pads=[5, 6]), WIDE),
    "kernel of 2^31, size open": (partial(window, "AveragePool", "S", BIG, pads=[5, 6]), WIDE),
    "stride of 2^31, SAME": (
        partial(window, "MaxPool", "S", strides=[BIG], auto_pad="SAME_UPPER"),
        WIDE,
    ),
    "dilation of 2^31": (
        partial(window, "MaxPool", 3, dilations=[BIG], pads=[BIG, BIG]),
        WIDE,
    ),
    "pads of 2^31": (partial(window, "MaxPool", 8, pads=[BIG, BIG]), ""),
    "ConvTranspose with a stride of 2^31": (
        partial(window, "ConvTranspose", "S", strides=[BIG], auto_pad="SAME_UPPER"),
        WIDE,
    ),
    "70 axes": (
        lambda: unbounded.graph(
            [helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[3] * 68, pads=[1] * 136)],
            [unbounded.value("x", [8] * 70)],
            ["y"],
        ),
        "its input has 70 axes, more than the 64 that an array of numpy can have",
    ),
}
PASSES = ("average-by-conv", "uncounted-padding", "symmetric-pads-by-kernel", "split-pads")


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_not_counted_one_by_one(name: str) -> None:
    build, reason = WINDOWS[name]
    assert reason in ask(build(), "inspect")
    for verb in (*PASSES, "to tensorflow", "to pytorch"):
        ask(build(), verb)


@pytest.mark.parametrize(
    ("model", "verb", "reason"),
    [
        (
            window("AveragePool", 2**33, pads=[1, 1]),
            "uncounted-padding",
            "what makes up for its padding would be 8,589,934,592 numbers in a new constant",
        ),
        (
            window("AveragePool", 2**33, pads=[1, 1]),
            "average-by-conv",
            "would be 8,589,934,592 numbers in a new constant, more than 16,777,216",
        ),
        (
            window("Conv", 8, pads=[0, BIG]),
            "symmetric-pads-by-kernel",
            "its window would span 2,147,483,650 cells, more than the 65,536",
        ),
        (
            window("Conv", 8, pads=[0, 2**40]),
            "symmetric-pads-by-kernel",
            "pads is [0, 1099511627776], beyond any real size",
        ),
        (
            window("Conv", 8, 65_536, pads=[0, 65_535], strides=[2]),
            "symmetric-pads-by-kernel",
            "more than the 65,536",
        ),
        (
            window("AveragePool", 10**7, 60_000, pads=[30_000, 30_000]),
            "to tensorflow",
            "cells would be read to compare its windows",
        ),
    ],
)
def test_what_would_be_too_large_is_refused_before_it_is_made(
    model: ModelProto, verb: str, reason: str
) -> None:
    assert reason in ask(model, verb)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("width", [2**24, BIG, HUGE])
@pytest.mark.parametrize("size", [8, 2**40, "S"])
def test_wide_pads(mode: str, width: int, size: int | str) -> None:
    model = pad(mode, (width, width - 1), size)
    for verb in ("inspect", "plain-pad", "concat-pads", "absorb-pad", "to tensorflow"):
        ask(model, verb)


def test_taps_of_a_layer_are_not_looked_at_one_by_one() -> None:
    with within():
        found = onnxpad.resolve(
            *("tensorflow", "avg_pool"),
            input_shape=(1, 1, 64),
            ksize=BIG,
            dilations=65_536,
            padding="SAME",
        )
        assert found.output_shape == (1, 1, 64)
        with pytest.raises(RequestError):
            found.to_model()


def test_indices_that_no_int64_counts_stay_as_they_are() -> None:
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[3, 3], pads=[1] * 4)
    model = unbounded.graph([node], [unbounded.value("x", [1, 1, HUGE, HUGE])], ["y", "i"])
    assert "Indices are used" in ask(model, "split-pads")


def folding(op: str, *inputs: object, **attributes: Any) -> ModelProto:
    constants = [whole(f"c{n}", held) for n, held in enumerate(inputs)]
    node = helper.make_node(op, [one.name for one in constants], ["p"], **attributes)
    return folded([node], *constants)


FOLDED = {
    "ConstantOfShape": folding("ConstantOfShape", [2**31, 2**33]),
    "ConstantOfShape, the product overflows": folding("ConstantOfShape", [2**32, 2**32]),
    "ConstantOfShape, two negative sizes": folding("ConstantOfShape", [-(2**32), -(2**31)]),
    "Expand": folding("Expand", [1], [2**32, 2**32]),
    "Tile": folding("Tile", [1, 2, 3], [HUGE]),
    "Tile, negative": folding("Tile", [[1, 2, 3]], [-HUGE, 2**40]),
    "Gather": folding("Gather", [list(range(4000))], [0] * 4000),
    "Add": folding("Add", [[0]] * 4000, [0] * 4000),
    "Range": folded(
        [helper.make_node("Range", ["a", "b", "d"], ["p"])],
        whole("a", -(2**63)),
        whole("b", 2**63 - 1),
        whole("d", 1),
    ),
    "a long chain": folded(
        [helper.make_node("Identity", [f"p{k}" if k else "c"], [f"p{k + 1}"]) for k in range(4999)]
        + [helper.make_node("Identity", ["p4999"], ["p"])],
        whole("c", [0, 0, 1, 0, 0, 1]),
    ),
}


@pytest.mark.parametrize("name", FOLDED)
def test_constants_are_bounded_before_they_are_computed(name: str) -> None:
    ask(FOLDED[name], "inspect")


def test_a_long_chain_of_arithmetic_is_followed() -> None:
    (padding, _) = onnxpad.inspect(FOLDED["a long chain"]).nodes
    assert padding.pads == (0, 0, 1, 0, 0, 1)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (unbounded.calls(16, twice=True), "more than 20,000"),
        (unbounded.calls(2000, twice=False), "nested over 100 deep"),
        (unbounded.nested_ifs(500), "nested over 100 deep"),
    ],
    ids=["2^16 calls", "functions 2000 deep", "If 500 deep"],
)
def test_functions_and_bodies_within_each_other(model: ModelProto, reason: str) -> None:
    assert reason in ask(model, "inspect")
    assert reason in ask(model, "explicit-pads")


def long_chain(op: str, **attributes: Any) -> Any:
    """Its answers come as soon, in seconds of which each verb takes some."""
    model = chain(op, 1000, "S", strides=[60_000], **attributes)
    return pytest.param(model, marks=pytest.mark.sweep)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "model",
    [
        unbounded.sums_of_sizes(),
        chain("ConvTranspose", 300, "S", strides=[60_000]),
        chain("ConvTranspose", 1000, 8, strides=[60_000]),
        chain("MaxPool", 300, "S", kernel_shape=[2], strides=[60_000]),
        long_chain("ConvTranspose"),
        long_chain("MaxPool", kernel_shape=[2]),
        window("MaxPool", f"{2**61}*a+1", strides=[2], auto_pad="SAME_UPPER"),
        window("MaxPool", "a" + "+1" * 20_000, strides=[2], auto_pad="SAME_UPPER"),
        window("MaxPool", "9" * 5000 + "*a", strides=[2], auto_pad="SAME_UPPER"),
    ],
    ids=[
        *("sums", "products", "numbers", "quotients", "long products", "long quotients"),
        *("modulus", "long name", "digits"),
    ],
)
def test_expressions_of_sizes(model: ModelProto) -> None:
    for verb in ("inspect", "explicit-pads", "split-pads", "to tensorflow"):
        ask(model, verb)
    with within():
        assert onnxpad.validate(model, model, proof_only=True).verdict != "different"


@pytest.mark.sweep
def test_many_functions_are_read_once_each() -> None:
    same = helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[3], auto_pad="SAME_UPPER")
    functions = [
        helper.make_function("d", f"F{k}", ["a"], ["b"], [same], unbounded.OPSETS)
        for k in range(20_000)
    ]
    relu = [helper.make_node("Relu", ["x"], ["y"])]
    model = unbounded.graph(relu, [unbounded.value("x", [1])], ["y"], (), functions)
    with within():
        assert len(onnxpad.inspect(model).nodes) == len(functions)


def fan(count: int, op: str = "Conv") -> ModelProto:
    """A Pad with many readers."""
    rest = ["w"] if op == "Conv" else []
    nodes = [helper.make_node("Pad", ["x", "p"], ["q"], "pad")]
    nodes += [helper.make_node(op, ["q", *rest], [f"y{k}"], f"op{k}") for k in range(count)]
    constants = [*window("Conv").graph.initializer, whole("p", [0, 0, 1, 0, 0, 1])]
    outputs = [f"y{k}" for k in range(count)]
    return unbounded.graph(nodes, [unbounded.value("x", [1, 1, 8])], outputs, constants)


@pytest.mark.sweep
def test_a_pad_with_many_readers_is_read() -> None:
    assert ask(fan(1500), "inspect") == "; " * 1500
    assert ask(fan(5000), "inspect") == "; " * 5000
    assert ask(fan(5000, "Identity"), "inspect") == ""


@pytest.mark.sweep
def test_a_long_row_of_pads_and_thousands_of_equal_nodes() -> None:
    assert ask(chain("Pad", 3000), "inspect") == "; " * 2999
    same = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3], pads=[1, 1])
    model = unbounded.graph([same], [unbounded.value("x", [1, 1, 8])], ["y"])
    for number in range(10_000):
        model.graph.node.add().CopyFrom(same)
        model.graph.node[-1].output[0] = f"y{number}"
    assert ask(model, "inspect") == "; " * 10_000
