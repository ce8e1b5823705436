"""Operators that a rewrite writes beside padded ones: one small model each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from onnxpad.model.opened import Model
from onnxpad.model.small_models import Array, Piece, assembled
from onnxpad.reproducing.specimens import values

_OPSET = 17
_SHAPE = (1, 2, 4, 5)
_CONSTANTS: Mapping[str, Array] = {
    "one": np.array(1, np.float32),
    "two": np.array(2, np.float32),
    "starts": np.array([1, 1]),
    "ends": np.array([3, 4]),
    "axes": np.array([2, 3]),
    "first": np.array([0]),
    "places": np.array([2, 1, 0]),
    "sizes": np.array(_SHAPE),
    "flat": np.array([1, -1]),
    "three": np.array(3),
    "scale": np.array(0.5, np.float32),
    "zero": np.array(3, np.uint8),
}
_BRANCHES = {
    "then_branch": [Piece("Relu", ["x"], ["a"])],
    "else_branch": [Piece("Neg", ["x"], ["b"])],
}
_BYTES = (
    Piece("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
    Piece("DequantizeLinear", ["q", "scale", "zero"], ["y"]),
)
_CHOICE = (Piece("Greater", ["x", "two"], ["c"]), Piece("Where", ["c", "x", "two"], ["y"]))
_PIECES: Mapping[str, tuple[Piece, ...]] = {
    **{
        name: (Piece(name, ["x", *more], ["y"]),)
        for name, more in {
            "Slice": ("starts", "ends", "axes"),
            "Identity": (),
            "Abs": (),
            "Neg": (),
            "Add": ("two",),
            "Sub": ("two",),
            "Mul": ("two",),
            "Div": ("two",),
            "Pow": ("two",),
            "Max": ("two",),
            "Clip": ("one", "two"),
            "Squeeze": ("first",),
            "Unsqueeze": ("first",),
            "Reshape": ("flat",),
        }.items()
    },
    "Sqrt": (Piece("Abs", ["x"], ["a"]), Piece("Sqrt", ["a"], ["y"])),
    "Concat": (Piece("Neg", ["x"], ["n"]), Piece("Concat", ["x", "n"], ["y"], {"axis": 3})),
    "Gather": (Piece("Gather", ["x", "places"], ["y"], {"axis": 3}),),
    "Greater": _CHOICE,
    "Where": _CHOICE,
    "Expand": (Piece("Expand", ["two", "sizes"], ["e"]), Piece("Add", ["x", "e"], ["y"])),
    "ConstantOfShape": (
        Piece("ConstantOfShape", ["sizes"], ["e"]),
        Piece("Add", ["x", "e"], ["y"]),
    ),
    "Shape": (Piece("Shape", ["x"], ["s"]), Piece("Expand", ["two", "s"], ["y"])),
    "Mod": (
        Piece("Shape", ["x"], ["s"]),
        Piece("Mod", ["s", "three"], ["m"]),
        Piece("Expand", ["two", "m"], ["y"]),
    ),
    "QuantizeLinear": _BYTES,
    "DequantizeLinear": _BYTES,
    "If": (
        Piece("ReduceMax", ["x"], ["most"], {"keepdims": 0}),
        Piece("Greater", ["most", "two"], ["c"]),
        Piece("If", ["c"], ["y"], _BRANCHES),
    ),
}


class Beside(NamedTuple):
    """The model of an operator, and its inputs."""

    operator: str
    model: Model
    feeds: Mapping[str, Any]


def models_beside() -> Iterator[Beside]:
    """The model of each operator."""
    x = values(_SHAPE, "float32", None)
    for name, pieces in _PIECES.items():
        read = {one for piece in pieces for one in piece.inputs}
        model = assembled(
            pieces,
            {"x": ("float32", _SHAPE)},
            {"y": ("float32", None)},
            {key: value for key, value in _CONSTANTS.items() if key in read},
            opset=_OPSET,
        )
        yield Beside(name, model, {"x": x})
