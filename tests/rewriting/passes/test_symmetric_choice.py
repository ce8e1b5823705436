"""What keeps asymmetric pads from being written as symmetric ones, and what each way costs."""

from __future__ import annotations

import pytest

from onnxpad.model.editing.session import EditSession
from onnxpad.padding.chain import Skip
from onnxpad.rewriting.steps.symmetric import Cost, cheapest, ways
from tests.models.tiny import kinds, refused, tiny
from tests.rewriting.passes.expanded import rewritten_model

SLICE, KERNEL, PAD = (f"symmetric-pads-by-{way}" for way in ("slice", "kernel", "pad"))
ANY = "symmetric-pads"
COUNTING = "AveragePool <{}, count_include_pad = 1> (x)"

REFUSALS = {
    "fed weight": (4, "Conv <pads = [0, 1]> (x, v)", KERNEL, "no constant of the model"),
    "pool": (4, "MaxPool <kernel_shape = [3], pads = [0, 1]> (x)", KERNEL, "no weights"),
    "pads reach the kernel": (
        4,
        "MaxPool <kernel_shape = [2], strides = [3], pads = [0, 1]> (x)",
        SLICE,
        "[3, 3] reach the kernel",
    ),
    "average": (
        6,
        "AveragePool <kernel_shape = [3], pads = [0, 1]> (x)",
        PAD,
        "does not count padded cells",
    ),
    "summand": (
        4,
        "com.microsoft.FusedConv <pads = [0, 1]> (x, w, , s)",
        SLICE,
        "adds a tensor to its output",
    ),
    "counting overhang": (
        7,
        COUNTING.format("kernel_shape = [3], strides = [2], pads = [2, 1], ceil_mode = 1"),
        SLICE,
        "not the cells that its last window lacks",
    ),
    "transposed": (4, "ConvTranspose <pads = [0, 1]> (x, w)", PAD, "crop its output"),
    "short": (1, "Conv <pads = [1, 0]> (x, w)", ANY, "fewer than the window's"),
    "mask": (
        4,
        "com.microsoft.MaxpoolWithMask <kernel_shape = [3], pads = [0, 1]> (x, m)",
        ANY,
        "depends on its own padding",
    ),
    "nothing left": (2, "ConvTranspose <pads = [4, 3]> (x, w)", ANY, "leave nothing of axis 2"),
}


@pytest.mark.parametrize(("size", "op", "rule", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_refuses(size: int, op: str, rule: str, reason: str) -> None:
    given = "float[1,1,3] v, float[1,1,3] s, int32[1,4] m"
    assert reason in refused(tiny(f"y = {op}", f"float[1,1,{size}]", inputs=given), rule).reason


def test_the_layout_of_a_weight_that_is_not_documented() -> None:
    model = tiny(
        "y = com.microsoft.NhwcConv <kernel_shape = [1, 3], pads = [0, 0, 0, 1]> (x, v)",
        "float[1,1,4,1]",
        constants="float[1,1,3,1] v = {1, 2, 3}",
    )
    reason = refused(model, KERNEL).reason
    assert reason == "the layout of the weight of NhwcConv is not documented"


def test_col2im_has_a_pass_of_its_own() -> None:
    model = tiny(
        "y = Col2Im <pads = [1, 0]> (x, image, block)",
        "float[1,2,5]",
        constants="int64[1] image = {5}, int64[1] block = {2}",
        opset=18,
    )
    skip = refused(model, ANY)
    assert skip.reason == "its pads crop the folded image"
    assert skip.hints == ("--pass plain-col2im",)


def test_the_choice_tells_every_reason() -> None:
    model = tiny(
        "y = AveragePool <kernel_shape = [2], strides = [3], pads = [0, 1]> (x)", "float[1,1,4]"
    )
    reason = refused(model, ANY).reason
    assert reason.startswith("written like that, pads=[3, 3] reach the kernel [2]: onnxruntime")
    assert "; by the kernel: a pool has no weights to extend; by a Pad: the average" in reason


def test_costs_are_computed_and_decide() -> None:
    model = tiny(
        "[op] y = Conv <pads = [1, 0, 3, 0], strides = [1, 2]> (x, v)",
        "float[1,3,224,224]",
        constants=f"float[8,3,3,3] v = {{{', '.join(['1'] * 216)}}}",
    )
    (site,) = EditSession(model).sites()
    every = ways(site.chain)
    found = {name: some[0].cost for name, some in every.items() if not isinstance(some, Skip)}
    height, width, channels = 226, 111, 8
    taps = 3 * channels
    assert found == {
        # Two windows more on the first axis.
        "a Slice": Cost(2 * width * 9 * taps, 2 * 4 * channels * height * width, 1),
        # Two more rows of three taps.
        "the kernel": Cost(height * width * 6 * taps, 4 * 6 * taps, 0),
        "a Pad": Cost(0, 2 * 4 * 3 * 226 * 224, 1),
    }
    best = cheapest(site.chain)
    assert not isinstance(best, Skip)
    assert best[0].cost == min(found.values(), key=lambda cost: cost.weight) == found["the kernel"]
    assert str(found["a Slice"]) == ("+47,952 multiply-adds, +1,605,504 bytes moved, +1 operators")
    assert kinds(rewritten_model(model, ANY)) == ["Conv"]
