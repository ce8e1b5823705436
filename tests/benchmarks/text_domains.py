"""Small models as ONNX text, for the recorder of answers: what stands around a padded operator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from onnx import ModelProto, parser

_ONE = "int64[6] p = {0, 0, 1, 0, 0, 1}"
_W = "float[2,2,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}"
_SCALES = "float s = {0.1}, uint8 z = {117}, float o = {2.0}"
_K = "int8[2,2,3] k = {3, -2, 1, 5, 4, -7, 2, 2, 2, -1, 9, 1}, int8 k0 = {0}, float ks = {0.25}"
_X = "float[1,2,#] x"
_DQ_CONV = "v = DequantizeLinear (k, ks, k0) [node] c = Conv <strides = [1]> (d, v)"
_OUT = "r = QuantizeLinear (c, o, z) y = DequantizeLinear (r, o, z)"
_SAME_PADS = """
    shape = Shape (x) size = Gather (shape, two) less = Sub (size, one) windows = Div (less, two_)
    wide = Mul (windows, two_) span = Add (wide, three) total = Sub (span, size)
    at = Max (total, nought) begin = Div (at, two_) end = Sub (at, begin)
    amounts = Concat <axis = 0> (none, begin, none, end) a = Pad (x, amounts)"""
_NUMBERS = """int64[1] two = {2}, int64[1] one = {1}, int64[1] two_ = {2}, int64[1] three = {3},
    int64[1] nought = {0}, int64[2] none = {0, 0}"""
_BODY = "then_branch = g1 () => (float[a,b,c] t) { a = Pad (x, p) [inside] t = Conv (a, w) }"
_ELSE = (
    'else_branch = g2 () => (float[a,b,c] e) { [other] e = Conv <auto_pad = "SAME_UPPER"> (x, w) }'
)


class Text(NamedTuple):
    """A model as ONNX text: its nodes, its constants, and its inputs, `#` for the size."""

    nodes: str
    held: str
    given: str = _X
    opset: int = 13


_SURROUNDINGS = {
    "Pad before Quantize": Text(
        "a = Pad (x, p) q = QuantizeLinear (a, s, z) d = DequantizeLinear (q, s, z)"
        f" {_DQ_CONV} {_OUT}",
        f"{_ONE}, {_K}, {_SCALES}",
    ),
    "Pad between Dequantize and Conv": Text(
        "q = QuantizeLinear (x, s, z) f = DequantizeLinear (q, s, z) d = Pad (f, p)"
        f" {_DQ_CONV} {_OUT}",
        f"{_ONE}, {_K}, {_SCALES}",
    ),
    "Pad of quantised data": Text(
        "q = QuantizeLinear (x, s, z) f = Pad (q, p, z) d = DequantizeLinear (f, s, z)"
        f" {_DQ_CONV} {_OUT}",
        f"{_ONE}, {_K}, {_SCALES}",
    ),
    "asymmetric pads in a quantised group": Text(
        "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z)"
        f" {_DQ_CONV.replace('strides = [1]', 'pads = [1, 2]')} {_OUT}",
        f"{_K}, {_SCALES}",
    ),
    "max pool in a quantised group": Text(
        "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) a = Pad (d, p)"
        f" [node] c = MaxPool <kernel_shape = [3], pads = [1, 0]> (a) {_OUT}",
        f"{_ONE}, {_SCALES}",
    ),
    "computed pads of SAME": Text(
        f"{_SAME_PADS} [node] y = Conv <strides = [2]> (a, w)", f"{_W}, {_NUMBERS}"
    ),
    "computed pads before a pool": Text(
        f"{_SAME_PADS} [node] y = MaxPool <kernel_shape = [3], strides = [2]> (a)",
        _NUMBERS,
        opset=18,
    ),
    "two Pads in a row": Text(
        "a = Pad (x, p) b = Pad (a, q) [node] y = Conv (b, w)",
        f"{_ONE}, {_W}, int64[6] q = {{0, 0, 0, 0, 0, 2}}",
    ),
    "a Pad for two pools": Text(
        "a = Pad (x, p) [one] b = MaxPool <kernel_shape = [3]> (a)"
        " [node] c = AveragePool <kernel_shape = [3]> (a) y = Add (b, c)",
        _ONE,
    ),
    "a weight for two convolutions": Text(
        "[one] a = Conv <pads = [1, 2]> (x, w) [node] b = Conv <pads = [0, 1]> (x, w)"
        " c = Slice (a, starts, ends, axes) d = Slice (b, starts, ends, axes) y = Add (c, d)",
        f"{_W}, int64[1] starts = {{0}}, int64[1] ends = {{4}}, int64[1] axes = {{2}}",
    ),
    "a Pad on the weight": Text(
        "v = Pad (w, p) [node] y = Conv <pads = [2, 2]> (x, v)", f"{_W}, {_ONE}"
    ),
    "a Pad behind Relu": Text(
        "r = Relu (x) a = Pad (r, p) [node] y = MaxPool <kernel_shape = [3]> (a)", _ONE
    ),
    "bodies of If": Text(
        f"[if] y = If (b) <{_BODY}, {_ELSE}>", f"{_W}, {_ONE}", f"{_X}, bool b", 16
    ),
    "auto_pad and pads": Text(
        '[node] y = Conv <auto_pad = "SAME_UPPER", pads = [1, 0]> (x, w)', _W
    ),
    "a weight that is an input": Text(
        "[node] y = Conv <pads = [1, 2]> (x, w)", "", f"{_X}, float[2,2,3] w"
    ),
    "pads that are an input": Text(
        "a = Pad (x, p) [node] y = Conv (a, w)", _W, f"{_X}, int64[6] p"
    ),
    "negative pads of a transposed convolution": Text(
        "[node] y = ConvTranspose <pads = [0, -1], strides = [2]> (x, w)", _W
    ),
}

# Pads that exporters compute from sizes: TorchScript's order of amounts, timm's and Keras' SAME,
# up to a multiple of 4, the odd cell by Where, ScatterND, Split and If.
_CONSTANTS = """int64 two = {2}, int64 three = {3}, int64 zero = {0}, int64 one = {1},
 int64[1] ax = {0}, int64[1] eight = {8}, int64[1] minus = {-1}, int64[2] rows = {-1, 2},
 int64[1] far = {-9223372036854775807}, int64[1] first = {0}, int64[2] spatial = {2, 3},
 int64[2] ones = {1, 1}, int64[2] twos = {2, 2}, int64[2] zeros = {0, 0}, int64[2] halves = {2, 2},
 int64[4] nothing = {0, 0, 0, 0}, int64[2,1] front = {6, 7}, float ftwo = {2},
 int64[2] fours = {4, 4},
 float[1,2,3,3] k = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}"""
_FLIP = """ amounts = Concat <axis = 0> (l3, r3, l2, r2)
 len = Shape (amounts) more = Sub (eight, len) fill = ConstantOfShape <value = int64[1] {0}> (more)
 all = Concat <axis = 0> (amounts, fill) table = Reshape (all, rows)
 turned = Slice (table, minus, far, first, minus) flipped = Transpose <perm = [1, 0]> (turned)
 flat = Reshape (flipped, minus) pads = Cast <to = 7> (flat)"""
_SIZES = "".join(
    f" s{axis} = Shape (x) h{axis} = Gather (s{axis}, {name})"
    for axis, name in ((2, "two"), (3, "three"))
)
_TIMM = "".join(
    f""" n{i} = Neg (h{i}) q{i} = Div (n{i}, two) c{i} = Neg (q{i}) o{i} = Sub (c{i}, one)
 m{i} = Mul (o{i}, two) e{i} = Add (m{i}, three) t{i} = Sub (e{i}, h{i}) a{i} = Div (t{i}, two)
 b{i} = Sub (t{i}, a{i}) l{i} = Unsqueeze (a{i}, ax) r{i} = Unsqueeze (b{i}, ax)"""
    for i in (2, 3)
)
_FLOATS = "".join(
    f""" n{i} = Cast <to = 1> (h{i}) q{i} = Div (n{i}, ftwo) c{i} = Ceil (q{i})
 d{i} = Cast <to = 7> (c{i}) o{i} = Sub (d{i}, one) m{i} = Mul (o{i}, two) e{i} = Add (m{i}, three)
 t{i} = Sub (e{i}, h{i}) z{i} = Max (t{i}, zero) a{i} = Div (z{i}, two) b{i} = Sub (z{i}, a{i})
 l{i} = Unsqueeze (a{i}, ax) r{i} = Unsqueeze (b{i}, ax)"""
    for i in (2, 3)
)
_ENDS = " pads = Concat <axis = 0> (nothing, zeros, end)"
_GIVEN = " s = Shape (x) hw = Gather (s, spatial)"
_COMPUTED = {
    "timm": _SIZES + _TIMM + _FLIP,
    "floats": _SIZES + _FLOATS + _FLIP,
    "multiple": " s = Shape <start = 2> (x) rest = Mod (s, fours) less = Sub (fours, rest)"
    f" end = Mod (less, fours){_ENDS}",
    "where": f"{_GIVEN} odd = Mod (hw, twos) is_odd = Equal (odd, ones)"
    f" end = Where (is_odd, ones, zeros){_ENDS}",
    "scatter": f"{_GIVEN} end = Mod (hw, twos) all = Expand (zero, eight)"
    " pads = ScatterND (all, front, end)",
    "split": " s = Shape (x) nc, hw = Split <axis = 0> (s, halves)"
    " h, w = Split <axis = 0> (hw, ones) both = Concat <axis = 0> (h, w)"
    f" end = Mod (both, twos){_ENDS}",
    "branch": f"""{_GIVEN} h = Gather (s, two) small = Less (h, one) end = If (small) <
 then_branch = p () => (int64[2] v) {{ v = Add (hw, ones) }},
 else_branch = q () => (int64[2] e) {{ e = Mod (hw, twos) }}>{_ENDS}""",
}
_READERS = {
    "Conv": "Conv <strides = [2, 2]> (p, k)",
    "MaxPool": "MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (p)",
    "AveragePool": "AveragePool <kernel_shape = [3, 3], strides = [2, 2]> (p)",
}


def surroundings() -> Iterator[tuple[str, ModelProto]]:
    """Quantised groups, computed pads, several Pads in a row, shared weights, bodies."""
    for key, (nodes, held, given, opset) in _SURROUNDINGS.items():
        for size in ("8", "H"):
            yield (
                f"{key}, size {size}",
                _model(nodes, held, given.replace("#", size), "n,c,h", opset),
            )


def computed() -> Iterator[tuple[str, ModelProto]]:
    """Pads that the model computes from sizes, known and open."""
    shapes = ("N,2,H,W", "1,2,9,12", "N,2,8,13")
    for (style, nodes), shape, (reader, text) in product(
        _COMPUTED.items(), shapes, _READERS.items()
    ):
        body = f"{nodes} [pad] p = Pad (x, pads) [node] y = {text}"
        yield (
            f"{style}, {shape}, {reader}",
            _model(body, _CONSTANTS, f"float[{shape}] x", "a,b,c,d", 18),
        )


def infinity() -> Iterator[tuple[str, ModelProto]]:
    """A Pad of -inf that only max pools read."""
    for kernel, begin, end, size in product((2, 3), (0, 1, 2), (0, 1, 2), ("6", "H")):
        nodes = f"a = Pad (x, p, v) [node] y = MaxPool <kernel_shape = [{kernel}]> (a)"
        held = f"int64[6] p = {{0, 0, {begin}, 0, 0, {end}}}, float v = {{-inf}}"
        key = f"-inf {begin},{end} before MaxPool of {kernel}, size {size}"
        yield key, _model(nodes, held, f"float[1,2,{size}] x", "n,c,h", 13 + 2 * kernel)


def _model(nodes: str, held: str, given: str, result: str, opset: int) -> ModelProto:
    read: ModelProto = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {opset}, "com.microsoft": 1]>'
        f" g ({given}) => (float[{result}] y) <{held}> {{ {nodes} }}"
    )
    return read
