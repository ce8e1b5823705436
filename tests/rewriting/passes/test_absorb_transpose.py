"""absorb-pad before transposed convolutions, and through Transpose, Unsqueeze and Squeeze."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest

from onnxpad.padding.chain import Skip
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    NEGATIVE,
    X5,
    attributes,
    kinds,
    nodes,
    numbers,
    refused,
    rewritten,
    values,
)
from tests.models.tiny import tiny as text_model
from tests.oracle.onnxruntime_levels import Array, ran

RULE = "absorb-pad"
tiny = partial(text_model, result="float[n,c,r]")
X3 = numbers(1, 2, 3)


def transposed(call: str, around: tuple[int, int] = (1, 1), **more: Any) -> onnx.ModelProto:
    first, last = around
    held = f"int64[6] p = {{0, 0, {first}, 0, 0, {last}}}, float[1] bias = {{7}}"
    body = f"a = Pad (x, p) [op] y = ConvTranspose <{call}> (a, w, bias)"
    return tiny(body, "float[1,1,3]", constants=held, **more)


def test_row_25_transposed_convolution() -> None:
    after = rewritten(transposed("strides = [2], pads = [2, 3]"), RULE, X3)
    assert kinds(after) == ["ConvTranspose"]
    assert attributes(after) == {"strides": [2], "pads": [0, 1]}
    skip = refused(transposed("strides = [2], pads = [1, 3]"), RULE)
    assert skip.reason == "the Pad adds more cells than its pads [1, 3] crop"


EXPLICIT = list(product((0, 1, 2), (0, 1), (1, 2), (1, 2), (0, 1)))


@pytest.mark.parametrize(("begin", "end", "stride", "dilation", "extra"), EXPLICIT)
def test_every_crop(begin: int, end: int, stride: int, dilation: int, extra: int) -> None:
    fits = 0
    if extra >= stride:
        return
    for crop in product(range(0, 6, 2), (1, 3, 4)):
        call = f"strides = [{stride}], dilations = [{dilation}], pads = [{crop[0]}, {crop[1]}]"
        call += f", output_padding = [{extra}]" if extra else ""
        model = transposed(call, (begin, end))
        whole = (3 + begin + end - 1) * stride + 2 * dilation + 1 + extra
        if whole <= sum(crop):
            continue
        done = rewrite(model, passes=[RULE])
        assert isinstance(done.model, onnx.ModelProto)
        left = [crop[0] - begin * stride, crop[1] - end * stride]
        assert done.changed == (min(left) >= 0)
        fits += done.changed
        if done.changed:
            assert attributes(done.model)["pads"] == left
            wanted = ran(model, {"x": X3}, optimised=False)
            assert values(done.model, X3) == np.ravel(wanted).tolist() == values(model, X3)
    assert fits


AUTO = {
    "SAME_UPPER": ('auto_pad = "SAME_UPPER", kernel_shape = [3]', (0, 1), [1, 0]),
    "SAME_LOWER": ('auto_pad = "SAME_LOWER", kernel_shape = [3]', (1, 0), [0, 1]),
    "output_shape": ("output_shape = [6], strides = [2]", (1, 0), [0, 1]),
}


@pytest.mark.parametrize(("call", "around", "pads"), AUTO.values(), ids=AUTO)
def test_auto_pad_is_that_of_the_padded_input(
    call: str, around: tuple[int, int], pads: list[int]
) -> None:
    model = transposed(call, around)
    after = rewritten(model, RULE, X3)
    assert attributes(after)["pads"] == pads
    assert not {"auto_pad", "output_shape"} & attributes(after).keys()
    wanted = ran(model, {"x": X3}, optimised=False)
    assert values(after, X3) == np.ravel(wanted).tolist()


def test_row_54_transpose() -> None:
    model = text_model(
        "[pad] a = Pad (x, p) [t] b = Transpose <perm = [0, 3, 1, 2]> (a) [op] y = Conv (b, k)",
        "float[1,4,5,1]",
        result="float[n,c,h,w]",
        constants="int64[8] p = {0, 1, 0, 0, 0, 2, 1, 0}, float[1,1,2,2] k = {1, -10, 100, 3}",
    )
    x = np.arange(-9, 11, dtype=np.float32).reshape(1, 4, 5, 1)
    after = rewritten(model, RULE, x)
    assert kinds(after) == ["Transpose", "Conv"]
    assert attributes(after) == {"pads": [1, 0, 2, 1]}
    assert [node.name for node in nodes(after.graph)] == ["t", "op"]


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_a_causal_convolution_of_one_axis(opset: int) -> None:
    """As exporters of TensorFlow write Conv1D: channels last, over an axis that is added."""
    axes = ("Unsqueeze <axes = [-2]> (b)", "Squeeze <axes = [2]> (d)")
    if opset >= 13:
        axes = ("Unsqueeze (b, behind)", "Squeeze (d, two)")
    model = tiny(
        f"a = Pad (x, p) b = Transpose <perm = [0, 2, 1]> (a) c = {axes[0]} "
        f"[op] d = Conv <dilations = [1, 2]> (c, k) y = {axes[1]}",
        "float[1,5,1]",
        opset=opset,
        constants="int64[6] p = {0, 4, 0, 0, 0, 0}, float[1,1,1,3] k = {1, -10, 100}, "
        "int64[1] behind = {-2}, int64[1] two = {2}",
    )
    after = rewritten(model, RULE, X5.reshape(1, 5, 1))
    assert attributes(after) == {"dilations": [1, 2], "pads": [0, 4, 0, 0]}
    assert kinds(after) == ["Transpose", "Unsqueeze", "Conv", "Squeeze"]


def test_squeeze() -> None:
    body = "a = Pad (x, p) b = Squeeze (a, axes) [op] y = Conv (b, w)"
    held = "int64[8] p = {0, 0, 0, 1, 0, 0, 0, 2}, int64[1] axes = {-2}"
    after = rewritten(tiny(body, "float[1,1,1,5]", constants=held), RULE, X5[:, :, None])
    assert attributes(after) == {"pads": [1, 2]}


def test_squeeze_of_axes_that_the_pad_may_have_grown() -> None:
    """Without axes it depends on sizes which axes go."""
    model = tiny(
        "a = Pad (x, p) b = Squeeze (a) c = Unsqueeze (b, zero) d = Unsqueeze (c, zero) "
        "[op] y = Conv (d, w)",
        "float[1,1,5]",
        constants="int64[6] p = {0, 0, 1, 0, 0, 1}, int64[1] zero = {0}",
    )
    assert refused(model, RULE).reason == "what Squeeze 'b' makes of the Pad is not known"


def test_channels_that_become_an_axis() -> None:
    model = tiny(
        "a = Pad (x, p) [t] b = Transpose <perm = [0, 2, 1]> (a) [op] y = Conv (b, w)",
        "float[1,5,1]",
        constants="int64[6] p = {0, 0, 1, 0, 0, 1}, float[1,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
    )
    assert refused(model, RULE) == Skip("the Pad pads the batch or channel axis")


def test_unknown_sizes() -> None:
    model = tiny(
        "a = Pad (x, p) b = Relu (a) c = Transpose <perm = [0, 2, 1]> (b) "
        "[op] y = Conv <strides = [2]> (c, w)",
        "float[N,L,1]",
        constants="int64[6] p = {0, 2, 0, 0, 1, 0}",
    )
    rng = np.random.default_rng(3)
    xs = [rng.permutation(size).astype(np.float32).reshape(1, size, 1) - 3 for size in range(2, 10)]
    after = rewritten(model, RULE, *xs)
    assert attributes(after) == {"strides": [2], "pads": [2, 1]}


def test_inside_a_function() -> None:
    """Two calls of one function, with the same Pad."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "local": 1]>\n'
        "calls (float[1,1,5] x) => (float[n,c,r] y) <float[1,1,3] w = {1, 10, 100}> "
        "{ t = local.padded (x, w) y = local.padded (t, w) }\n"
        '<domain: "local", opset_import: ["": 17]>\n'
        "padded (x, w) => (y) { p = Constant <value = int64[6] {0, 0, 1, 0, 0, 1}> () "
        "a = Pad (x, p) b = Relu (a) y = Conv (b, w) }"
    )
    after = rewritten(model, RULE, X5 - 3)
    assert [node.op_type for node in after.functions[0].node] == ["Relu", "Conv"]


def test_inside_a_body() -> None:
    body = (
        "k = If (go) <then_branch = t () => (float[1,1,5] r) "
        "{ a = Pad (x, p) b = Relu (a) [op] r = Conv (b, w) }, "
        "else_branch = e () => (float[1,1,5] r) { r = Identity (x) }> y = Identity (k)"
    )
    held = "int64[6] p = {0, 0, 1, 0, 0, 1}, bool go = {1}, float[1,1,3] w = {1, 10, 100}"
    after = rewritten(tiny(body, constants=held), RULE, NEGATIVE_5)
    assert "Pad" not in kinds(after)
    assert attributes(after) == {"pads": [1, 1]}


NEGATIVE_5: Array = np.concatenate([NEGATIVE, NEGATIVE[..., :1]], axis=2)


def test_a_graph_of_graphsurgeon() -> None:
    body = (
        "[pad] a = Pad (x, p) [f] b = Relu (a) [op] c = Conv (b, w) y = Concat <axis = 2> ({}, c)"
    )
    held = "int64[6] p = {0, 0, 1, 0, 0, 1}"
    for other in ("x", "b"):
        model = tiny(body.format(other), constants=held)
        graph = gs.import_onnx(model)
        assert rewrite(graph, passes=[RULE]).changed
        after = gs.export_onnx(graph)
        wanted, found = (ran(one, {"x": X5 - 3}, optimised=False) for one in (model, after))
        assert np.array_equal(np.asarray(found), np.asarray(wanted))
        (conv,) = [node for node in graph.nodes if node.op == "Conv"]
        assert conv.attrs["pads"] == [1, 1]
        assert kinds(after).count("Relu") == (1 if other == "x" else 2)


def test_a_crossed_operator_with_the_attributes_of_a_function() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "local": 1]>\n'
        "calls (float[1,1,5] x) => (float[n,c,r] y) <float[1,1,3] w = {1, 10, 100}> "
        "{ y = local.padded <slope = 0.5> (x, w) }\n"
        '<domain: "local", opset_import: ["": 17]>\n'
        "padded <slope> (x, w) => (y) { p = Constant <value = int64[6] {0, 0, 1, 0, 0, 1}> () "
        "a = Pad (x, p) b = LeakyRelu <alpha: float = @slope> (a) y = Conv (b, w) }"
    )
    done = rewrite(model, passes=[RULE])
    assert not done.changed
