"""plain-dilations and odd-kernels: taps of 0 in the kernel, over a small domain of convolutions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import onnx
import pytest

from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Skip
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.validation import validate
from tests.models.text import text_model
from tests.oracle.interpreter import run_model

X = np.random.default_rng(5).integers(-9, 9, (1, 1, 12)).astype(np.float32)
BYTES = (X + 20).astype(np.uint8)


def written(op: str, kernel: int, more: str, *, opset: int = 17) -> onnx.ModelProto:
    taps = ", ".join(str(number) for number in (3, -2, 5, 7)[:kernel])
    if op == "ConvInteger":
        taps, weight = taps.replace("-", ""), f"uint8[1,1,{kernel}]"
        reads, constants = "(x, w, z, v)", ", uint8 z = {20}, uint8 v = {4}"
        given, made = "uint8[1,1,12] x", "int32[a,b,c] y"
    else:
        weight, reads, constants = f"float[1,1,{kernel}]", "(x, w)", ""
        given, made = "float[1,1,12] x", "float[a,b,c] y"
    return text_model(
        f"[op] y = {op} <{more}> {reads}",
        inputs=given,
        outputs=made,
        constants=f"{weight} w = {{{taps}}}{constants}",
        opset=opset,
    )


def cases() -> Iterator[tuple[str, int, str]]:
    paddings = ("pads = [0, 0]", "pads = [1, 2]", "pads = [3, 0]", 'auto_pad = "SAME_LOWER"')
    for op, kernel, stride, dilation, padding in product(
        ("Conv", "ConvInteger", "ConvTranspose"), (1, 2, 3, 4), (1, 2), (1, 2, 3), paddings
    ):
        more = f"{padding}, strides = [{stride}], dilations = [{dilation}]"
        yield op, kernel, more
        if op == "ConvTranspose":
            yield op, kernel, f"{more}, output_padding = [{stride - 1}]"


@pytest.mark.parametrize("name", ["plain-dilations", "odd-kernels"])
def test_the_numbers_stay(name: str) -> None:
    changed = 0
    for op, kernel, more in cases():
        model = written(op, kernel, more)
        done = rewrite(model, passes=name)
        if not done.changed:
            assert all(one.skip.moot for one in done.skips), (more, done.skips)
            continue
        changed += 1
        made = done.model
        assert isinstance(made, onnx.ModelProto)
        feeds = {"x": BYTES if op == "ConvInteger" else X}
        right, found = (run_model(one, feeds)["y"] for one in (model, made))
        np.testing.assert_array_equal(found, right, err_msg=f"{op} {kernel} {more}")
        node = made.graph.node[0]
        values = {one.name: list(one.ints) for one in node.attribute}
        weight = next(one for one in made.graph.initializer if one.name == node.input[1])
        if name == "plain-dilations":
            assert values["dilations"] == [1]
        else:
            assert weight.dims[2] % 2 == 1
    assert changed > 100


@pytest.mark.parametrize("name", ["plain-dilations", "odd-kernels"])
def test_it_is_proved_at_every_size(name: str) -> None:
    model = text_model(
        "[op] y = Conv <pads = [0, 1, 3, 1], dilations = [2, 3], strides = [2, 1]> (x, w)",
        inputs="float[n,2,h,w0] x",
        outputs="float[a,b,c,d] y",
        constants="float[1,2,2,2] w = {1, -2, 3, 4, -5, 6, 7, 8}",
    )
    done = rewrite(model, passes=name)
    assert done.changed
    assert validate(model, done.model, run_only=False).verdict == "proved"


def test_why_it_is_left() -> None:
    pool = text_model(
        "[op] y = MaxPool <kernel_shape = [2], dilations = [2]> (x)",
        inputs="float[1,1,9] x",
        outputs="float[a,b,c] y",
    )
    for name in ("plain-dilations", "odd-kernels"):
        assert rewrite(pool, passes=name).skips[0].skip.reason == "a pool has no weights to extend"
    extra = "dilations = [3], strides = [2], output_padding = [2]"
    (left,) = rewrite(written("ConvTranspose", 2, extra), passes="plain-dilations").skips
    assert left.skip.reason == (
        "its output_padding reaches the stride, which the dilation alone allows"
    )
    crop = written("Conv", 2, "pads = [-1, 0]")
    (left,) = rewrite(crop, passes="odd-kernels").skips
    assert left.skip.reason == "the pads [-1, 0] are negative"


@pytest.mark.parametrize(
    ("name", "reason", "more"),
    [
        ("plain-dilations", "it has no dilation above 1", "dilations = [2]"),
        ("odd-kernels", "its kernel is odd", "strides = [1]"),
    ],
)
def test_what_is_plain_or_replaceable_is_left(name: str, reason: str, more: str) -> None:
    (site,) = Survey(written("Conv", 3, "strides = [1]")).sites_now()
    assert all_passes()[name].rewrite(site.chain) == Skip(reason, moot=True)
    model = written("Conv", 2, more)
    model.graph.input.add().CopyFrom(onnx.helper.make_tensor_value_info("w", 1, (1, 1, 2)))
    (left,) = rewrite(model, passes=name).skips
    assert left.skip.reason.startswith("its weight is no constant of the model")
