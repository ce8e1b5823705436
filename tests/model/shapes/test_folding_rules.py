"""Every operator that folding knows, against onnxruntime on constants of both signs."""

from __future__ import annotations

import re
from math import ceil, floor

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, TensorProto, ValueInfoProto, parser

from onnxpad.geometry.linear import Linear
from onnxpad.model.graph.constant_folding import FOLDABLE
from onnxpad.model.graph.document import open_document
from onnxpad.model.reading.reader import read
from onnxpad.model.shapes.dimensions import Dimensions

CONSTANTS = """int64[4] a = {7, -7, 0, 5}, int64[4] b = {2, -2, 3, -4}, int64[4] one = {1, 1, 2, 3},
 float[4] f = {1.5, -1.5, 2.5, -0.25}, float[4] g = {0.5, 2.0, -3.0, 0.1}, int64 n = {3},
 int64[2,3] m = {1, -2, 3, -4, 5, -6}, bool[4] t = {1, 0, 1, 0}, bool[4] u = {1, 1, 0, 0},
 int64[1] zero = {0}, int64[1] two = {2}, int64[2] shape = {3, -1}, int64[1] minus = {-1},
 int64[1] far = {-9223372036854775807},
 int64[1] behind = {9223372036854775807}, int64[1] before = {-9},
 int64[2,1] places = {3, 1}, int64[2] new = {9, -9},
 int64 start = {7}, int64 limit = {-2}, int64 delta = {-3}, int64[2] wide = {2, 4},
 int64[2] parts = {1, 3}, int32[2] small = {4, -3}, int64[2] picks = {-1, 0}
"""
CASES = [
    *(f"y = {op}(a, b)" for op in ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal")),
    *(f"y = {op}(a, b)" for op in ("Less", "Greater", "LessOrEqual", "GreaterOrEqual")),
    *(f"y = {op}(f, g)" for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum")),
    *(f"y = {op}(f)" for op in ("Neg", "Abs", "Floor", "Ceil", "Round", "Sign", "Identity")),
    *(f"y = {op}(t, u)" for op in ("And", "Or", "Xor")),
    "y = Max(a, b, one)",
    "y = Not(t)",
    "y = Where(t, a, b)",
    "y = Cast<to = 7>(f)",
    "y = Cast<to = 1>(a)",
    "y = Cast<to = 6>(a)",
    "y = Clip(a, n)",
    "y = Clip(a, limit, n)",
    "y = Clip(a, , limit)",
    "y = Relu(f)",
    "y = Flatten(m)",
    "y = Flatten<axis = 0>(m)",
    "y = Flatten<axis = -1>(m)",
    "y = Flatten(a)",
    "y = Concat<axis = 0>(a, b)",
    "y = Concat<axis = -1>(m, m)",
    "y = Reshape(m, shape)",
    "y = Slice(a, minus, far, zero, minus)",
    "y = Slice(m, two, minus, minus)",
    "y = Transpose(m)",
    "y = Transpose<perm = [1, 0]>(m)",
    "y = Unsqueeze(a, minus)",
    "y = Squeeze(two)",
    "y = Gather(a, picks)",
    "y = Gather<axis = 1>(m, two)",
    "y = Gather(a, n)",
    "y = Expand(a, wide)",
    "y = ScatterND(a, places, new)",
    "y = CastLike(f, a)",
    "y = ConstantOfShape<value = int64[1] {4}>(two)",
    "y = ConstantOfShape(two)",
    "y = Shape(m)",
    "y = Shape<start = 1>(m)",
    "y = Size(m)",
    "z, y = Split(a, parts)",
    "y, z = Split<axis = -1>(wide)",
    "i = Div(small, small) y = Neg(i)",
    "s = Shape(a) y = ConstantOfShape(s)",
]


def folded(body: str) -> tuple[np.ndarray | None, np.ndarray]:
    """What folding and what onnxruntime make of it."""
    model = model_of(body)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    exact = ort.InferenceSession(model.SerializeToString(), options).run(["y"], {})[0]
    return constant(model), np.asarray(exact)


def model_of(body: str) -> ModelProto:
    text = f"g () => (float y) <bool hold = {{0}}, {CONSTANTS}> {{ {body} }}"
    model: ModelProto = parser.parse_model('<ir_version: 9, opset_import: ["" : 17]>\n' + text)
    model.graph.output[0].CopyFrom(ValueInfoProto(name="y"))
    return model


def constant(model: ModelProto) -> np.ndarray | None:
    return read(open_document(model), Dimensions())[0].constant("y")


@pytest.mark.parametrize("body", CASES)
def test_folding_is_what_onnxruntime_computes(body: str) -> None:
    found, exact = folded(body)
    assert found is not None
    assert found.dtype == exact.dtype
    np.testing.assert_array_equal(found, exact)


def test_every_rule_has_a_case() -> None:
    text = " ".join(CASES)
    assert [op for op in FOLDABLE if f"{op}(" not in text and f"{op}<" not in text] == []


@pytest.mark.parametrize("body", ["y = Div(a, a)", "y = Mod(b, a)", "y = Cast<to = 8>(a)"])
def test_what_has_no_value_is_not_known(body: str) -> None:
    assert constant(model_of(body)) is None


@pytest.mark.parametrize(
    "body",
    [
        "y = Slice(a, zero, behind, zero, fed)",
        "y = Slice(m, zero, two, fed)",
        "y = Squeeze(two, fed)",
        "y = Clip(a, , fed)",
    ],
)
def test_what_hangs_on_an_unknown_input_is_not_known(body: str) -> None:
    """An input of which not even the shape is known is not one that is left out."""
    model = model_of(("own = a.b.Own(a) " if "own" in body else "") + body)
    model.graph.input.add().CopyFrom(ValueInfoProto(name="fed"))
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    assert constant(model) is None


def test_a_backward_slice_may_start_in_front_of_the_first_cell() -> None:
    """onnxruntime takes the first cell then; numpy takes none."""
    found, exact = folded("y = Slice(a, before, far, zero, minus)")
    np.testing.assert_array_equal(found, exact)
    assert exact.size == 1


def test_a_backward_slice_up_to_int_max_is_not_known() -> None:
    assert constant(model_of("y = Slice(a, minus, behind, zero, minus)")) is None


WHOLE = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Neg", "Floor", "Ceil")
NUMBERS = (1, 2, 3, -5)
SIZES = [(h, w) for h in range(2, 40, 4) for w in (1, 2, 3, 5, 8, 13)]


def drawn(seed: int) -> tuple[ModelProto, list[str]]:
    """A program over two open sizes and four numbers, and what it makes."""
    random, made = np.random.default_rng(seed), [f"v{place}" for place in range(6)]
    lines = ["s = Shape(x) v0 = Gather(s, i0) v1 = Gather(s, i1)"]
    for _ in range(int(random.integers(2, 10))):
        op, one, other = (str(random.choice(names)) for names in (WHOLE, made, made))
        result, number = f"v{len(made)}", random.integers(1, 4)
        if op in ("Floor", "Ceil"):  # how torch divides sizes: in floating point, and back
            text = f"c = Cast<to = 1>({one}) d = Div(c, f{number}) e = {op}(d) {result} = "
            text += "Cast<to = 7>(e)"
            lines.append(re.sub(r"\b([cde])\b", rf"\1_{len(made)}", text))
        else:
            other = str(random.choice(("v4", "v5"))) if op in ("Div", "Mod") else other
            lines.append(f"{result} = {op}({one}{'' if op == 'Neg' else f', {other}'})")
        made.append(result)
    numbers = [f"int64 v{place} = {{{number}}}" for place, number in enumerate(NUMBERS, 2)]
    numbers += [f"float f{number} = {{{number}}}" for number in (1, 2, 3)]
    constants = ", ".join([*numbers, "int64 i0 = {0}", "int64 i1 = {1}"])
    text = f"g (float[H,W] x) => (int64 {made[-1]}) <{constants}> {{ {' '.join(lines)} }}"
    return parser.parse_model('<ir_version: 9, opset_import: ["" : 17]>\n' + text), made


def value_at(cell: object, h: int, w: int) -> object:
    """A cell for certain sizes."""
    if not isinstance(cell, Linear):
        return cell
    names = {"H": h, "W": w, "floor": floor, "ceil": ceil}
    size = eval(cell.atom.name, {}, names) if cell.atom else 0  # noqa: S307
    return size * cell.factor + cell.added


def test_what_is_known_of_open_sizes_holds_for_every_size() -> None:
    checked = settled = 0
    for seed in range(150):
        model, names = drawn(seed)
        opened = read(open_document(model), Dimensions({"H": "%4=2"}))[0]
        for h, w in SIZES[seed % 5 :: 5]:
            fixed = read(open_document(model), Dimensions({"H": h, "W": w}))[0]
            for name in names:
                known, number = opened.value(name), fixed.constant(name)
                cell = None if known is None else known.item()
                if cell is not None:
                    assert number is not None, (model, name)
                    checked += 1
                    settled += not isinstance(cell, Linear)
                    assert value_at(cell, h, w) == number.item(), (model, name, h, w, cell)
    assert checked > 8_000
    assert settled > 4_000


def test_floats_that_may_be_rounded_are_not_known() -> None:
    text = """g (float[H] x) => (float[1] y) <float three = {3}> {
        s = Shape(x) c = Cast<to = 1>(s) third = Div(c, three) y = Mul(third, three)
        h = Cast<to = 10>(s) whole = Floor(third)
    }"""
    model = parser.parse_model('<ir_version: 9, opset_import: ["" : 17]>\n' + text)
    context = read(open_document(model), Dimensions())[0]
    values = {name: context.value(name) for name in ("y", "h", "whole")}
    cells = {name: None if one is None else one.item() for name, one in values.items()}
    assert (cells["y"], cells["h"]) == (None, None)
    assert isinstance(cells["whole"], Linear)
