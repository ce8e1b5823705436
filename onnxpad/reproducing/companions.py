"""Small models of operators without padding that some runtimes fail on: one for each name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from onnxpad.model.assembled import Array, Piece, assembled, list_bools
from onnxpad.model.opened import Model
from onnxpad.reproducing.specimens import values
from onnxpad.runtimes.conditions.companions import INPUT_CROP
from onnxpad.runtimes.conditions.rows import Row, every
from onnxpad.runtimes.judge import plain_chain

Made = tuple[Model, Mapping[str, Array]]
_Entry = (
    tuple[list[Piece], Mapping[str, Any], tuple[str, str]]
    | tuple[list[Piece], Mapping[str, Any], tuple[str, str], tuple[int, ...]]
)
_PLACES_ARE_INPUTS = 10
_OPSETS = (17, 13, 12, 11, 10, 9, 19, 21, 22, 23, 24)
_SHAPE = (1, 2, 4, 5)
_LINE, _VOLUME = (1, 2, 5), (1, 2, 3, 4, 5)


class _Small(NamedTuple):
    """The nodes of a model with their constants, the types of x and y, and the sizes of x."""

    pieces: list[Piece]
    constants: Mapping[str, Any]
    types: tuple[str, str]
    shape: tuple[int, ...] = _SHAPE


def companion(name: str) -> Callable[[Row], Made] | None:
    """What makes the model of an operator called so; None where none is known here."""
    if name not in _PIECES:
        return None
    small = _Small(*_PIECES[name])

    def made(row: Row) -> Made:
        opset = next((o for o in _OPSETS if every(row.when, plain_chain(o))), _OPSETS[0])
        feed = values(small.shape, small.types[0], None)
        model = assembled(
            [_at(opset, piece) for piece in small.pieces],
            {"x": (small.types[0], small.shape)},
            {"y": (small.types[1], None)},
            {key: np.asarray(value) for key, value in small.constants.items()},
            opset=opset,
        )
        list_bools(model)  # OpenCV reads them from raw_data alone
        if row.asks_for_sizes:
            model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
        return model, {"x": feed}

    return made


def _at(opset: int, piece: Piece) -> Piece:
    """The same as an opset writes it: places of a Slice are attributes below opset 10."""
    if piece.operator != "Slice" or opset >= _PLACES_ARE_INPUTS:
        return piece
    places = {name: value.tolist() for name, value in _STARTS.items()}
    return Piece("Slice", piece.inputs[:1], piece.outputs, places)


def _block(axis: int, value: float) -> tuple[list[Piece], Mapping[str, Any], tuple[str, str]]:
    """A Concat of a tensor and a block of constants."""
    sizes = [1 if index == axis else size for index, size in enumerate(_SHAPE)]
    pieces = [Piece("Concat", ["x", "block"], ["z"], {"axis": axis}), Piece("Neg", ["z"], ["y"])]
    return pieces, {"block": np.full(sizes, value, np.float32)}, _FLOATS


_FLOATS = ("float32", "float32")
_STARTS = {
    "starts": np.array([1, 1]),
    "ends": np.array([3, 4]),
    "axes": np.array([2, 3]),
}
_SLICED = ["starts", "ends", "axes"]
_TWO: Mapping[str, Any] = {"two": np.array(2, np.float32)}
_SCALES: Mapping[str, Any] = {
    "scale": np.array(1, np.float32),
    "zero": np.array(3, np.uint8),
}
_WEIGHT: Mapping[str, Any] = {"weight": np.array([[1, -1]], np.float32).reshape(1, 2, 1, 1)}
_SQUARE: Mapping[str, Any] = {
    "weight": np.array([[1, -1], [2, 1]], np.float32).reshape(2, 2, 1, 1),
    "offsets": np.array([1, 5], np.float32).reshape(1, 2, 1, 1),
}
_ALONE = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0] * 4}
_OF_BYTES: Mapping[str, Any] = {
    "scale": np.array(0.05, np.float32),
    "zero": np.array(3, np.int8),
    "other": np.array(131, np.uint8),
}
_CUBES: Mapping[str, Any] = {
    "each": (np.arange(16) % 5 - 2).astype(np.float32).reshape(2, 1, 2, 2, 2),
    "whole": (np.arange(32) % 5 - 2).astype(np.float32).reshape(2, 2, 2, 2, 2),
}
_CUBE = {"kernel_shape": [2, 2, 2], "strides": [1, 1, 1], "pads": [0] * 6}
_STATISTICS: Mapping[str, Any] = {
    "gain": np.array([1, 2], np.float32),
    "shift": np.array([0, 1], np.float32),
    "mean": np.array([0, 1], np.float32),
    "variance": np.array([1, 4], np.float32),
}
_BRANCHES = {
    "then_branch": [Piece("Relu", ["x"], ["a"])],
    "else_branch": [Piece("Neg", ["x"], ["b"])],
}
_DEQUANTISED: _Entry = (
    [
        Piece("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        Piece("DequantizeLinear", ["q", "scale", "zero"], ["y"]),
    ],
    {name: _OF_BYTES[name] for name in ("scale", "zero")},
    _FLOATS,
)


def _of_two(operator: str, kept: str) -> _Entry:
    """Arithmetic of two dequantised tensors, of which the result has the zero point `kept`."""
    pieces = [
        Piece("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        Piece("DequantizeLinear", ["q", "scale", "zero"], ["a"]),
        Piece("Relu", ["x"], ["r"]),
        Piece("QuantizeLinear", ["r", "scale", "zero"], ["p"]),
        Piece("DequantizeLinear", ["p", "scale", "zero"], ["b"]),
        Piece(operator, ["a", "b"], ["c"]),
        Piece("QuantizeLinear", ["c", "scale", kept], ["t"]),
        Piece("DequantizeLinear", ["t", "scale", kept], ["y"]),
    ]
    return pieces, {name: _OF_BYTES[name] for name in ("scale", "zero", kept)}, _FLOATS


_CHOICE: _Entry = (
    [
        Piece("ReduceMax", ["x"], ["most"], {"keepdims": 0}),
        Piece("Greater", ["most", "two"], ["above"]),
        Piece("If", ["above"], ["y"], _BRANCHES),
    ],
    _TWO,
    _FLOATS,
)
_PIECES: dict[str, _Entry] = {
    "Identity": ([Piece("Identity", ["x"], ["y"])], {}, _FLOATS),
    **dict.fromkeys(
        INPUT_CROP, ([Piece("Slice", ["x", *_SLICED], ["y"])], _STARTS, _FLOATS)
    ),
    "Slice": (
        [Piece("Relu", ["x"], ["r"]), Piece("Slice", ["r", *_SLICED], ["y"])],
        _STARTS,
        _FLOATS,
    ),
    "Concat with a constant": _block(2, 1),
    "Concat with an infinite constant": _block(2, float("-inf")),
    "Concat with a constant on axis 0 or 1": _block(1, 1),
    "Concat with no convolution or pool in front of it or behind": (
        [
            Piece("Relu", ["x"], ["r"]),
            Piece("Neg", ["x"], ["n"]),
            Piece("Concat", ["r", "n"], ["y"], {"axis": 3}),
        ],
        {},
        _FLOATS,
    ),
    "Gather": (
        [Piece("Relu", ["x"], ["r"]), Piece("Gather", ["r", "places"], ["y"], {"axis": 3})],
        {"places": np.array([2, 1, 0])},
        _FLOATS,
    ),
    "Pow": ([Piece("Pow", ["x", "two"], ["y"])], _TWO, _FLOATS),
    "Mul": ([Piece("Mul", ["x", "two"], ["y"])], _TWO, _FLOATS),
    "If": _CHOICE,
    "If with a condition that is no constant": _CHOICE,
    "bool stored in int32_data": (
        [Piece("Neg", ["x"], ["n"]), Piece("Where", ["chosen", "x", "n"], ["y"])],
        {"chosen": np.ones((), bool)},
        _FLOATS,
    ),
    "Mul by the HardSigmoid of another tensor": (
        [Piece("Neg", ["x"], ["n"]),
         Piece("HardSigmoid", ["n"], ["h"], {"alpha": 1 / 6, "beta": 0.5}),
         Piece("Mul", ["x", "h"], ["y"])],
        {},
        _FLOATS,
    ),
    "Cast behind a Mul or Gather by a Constant node": (
        [Piece("Constant", [], ["c"], {"value": np.array(1 / 3, np.float32)}),
         Piece("Mul", ["x", "c"], ["m"]),
         Piece("Cast", ["m"], ["n"], {"to": np.dtype("int64")}),
         Piece("Cast", ["n"], ["y"], {"to": np.dtype("float32")})],
        {},
        _FLOATS,
    ),
    "activation behind the activation of a Conv": (
        [Piece("Conv", ["x", "weight"], ["c"], {"kernel_shape": [1, 1]}),
         Piece("Relu", ["c"], ["r"]),
         Piece("Sigmoid", ["r"], ["y"])],
        _WEIGHT,
        _FLOATS,
    ),
    "Elu, Gelu and the like beside another activation of a Conv": (
        [Piece("Conv", ["x", "weight"], ["c"], {"kernel_shape": [1, 1]}),
         Piece("Elu", ["c"], ["r"]),
         Piece("Sigmoid", ["r"], ["y"])],
        _WEIGHT,
        _FLOATS,
    ),
    "Slice of int8 or uint8": (
        [Piece("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
         Piece("Slice", ["q", *_SLICED], ["s"]),
         Piece("DequantizeLinear", ["s", "scale", "zero"], ["y"])],
        {**_STARTS, "scale": np.array(1, np.float32), "zero": np.array(3, np.int8)},
        _FLOATS,
    ),
    "Add or Sub of a constant behind an Add or Sub of another": (
        [Piece("Add", ["x", "two"], ["z"]), Piece("Add", ["z", "two"], ["y"])],
        _TWO,
        _FLOATS,
    ),
    "constant for each channel that fits another axis as well": (
        [Piece("Relu", ["x"], ["r"]),
         Piece("Slice", ["r", *_SLICED], ["square"]),
         Piece("Add", ["square", "offsets"], ["y"])],
        {**_STARTS, "offsets": np.array([1, 5], np.float32).reshape(1, 2, 1, 1)},
        _FLOATS,
    ),
    "reduction to one number whose axes are listed": (
        [Piece("Relu", ["x"], ["r"]),
         Piece("ReduceMax", ["r"], ["y"], {"axes": [0, 1, 2, 3], "keepdims": 0})],
        {},
        _FLOATS,
    ),
    "constant of several numbers in a model without convolutions and pools": (
        [Piece("Mul", ["x", "offsets"], ["m"]), Piece("Relu", ["m"], ["y"])],
        {"offsets": _SQUARE["offsets"]},
        _FLOATS,
    ),
    "Add of a constant for each channel behind the Relu of a 2-D convolution": (
        [Piece("Conv", ["x", "weight"], ["c"], _ALONE),
         Piece("Relu", ["c"], ["r"]),
         Piece("Add", ["r", "offsets"], ["y"])],
        {name: _SQUARE[name] for name in ("weight", "offsets")},
        _FLOATS,
    ),
    "Concat of a sum behind a convolution or a pool": (
        [Piece("Conv", ["x", "weight"], ["c"], _ALONE),
         Piece("Add", ["c", "c"], ["d"]),
         Piece("Concat", ["d", "d"], ["y"], {"axis": 1})],
        {"weight": _SQUARE["weight"]},
        _FLOATS,
        (1, 2, 5, 2),
    ),
    "Concat of parts of several sizes, one a Relu of an average that counts no pads": (
        [Piece("AveragePool", ["x"], ["a"], {"kernel_shape": [3, 3], "pads": [1] * 4}),
         Piece("Relu", ["a"], ["r"]),
         Piece("Concat", ["r", "row"], ["y"], {"axis": 2})],
        {"row": np.full((1, 2, 1, 5), 3, np.float32)},
        _FLOATS,
    ),
    "Relu of a convolution of three axes, as a result of the model": (
        [Piece("Conv", ["x", "whole"], ["c"], _CUBE), Piece("Relu", ["c"], ["y"])],
        {"whole": _CUBES["whole"]},
        _FLOATS,
        _VOLUME,
    ),
    "Sigmoid and the like of a depthwise convolution of three axes": (
        [Piece("Conv", ["x", "each"], ["c"], _CUBE | {"group": 2}), Piece("Elu", ["c"], ["y"])],
        {"each": _CUBES["each"]},
        _FLOATS,
        _VOLUME,
    ),
    "BatchNormalization in training mode": (
        [Piece("Relu", ["x"], ["r"]),
         Piece("BatchNormalization", ["r", "gain", "shift", "mean", "variance"],
               ["y", "new_mean", "new_variance"], {"training_mode": 1})],
        _STATISTICS,
        _FLOATS,
    ),
    "global pool of three axes": (
        [Piece("Relu", ["x"], ["r"]), Piece("GlobalAveragePool", ["r"], ["y"])],
        {},
        _FLOATS,
        _VOLUME,
    ),
    "InstanceNormalization of one axis": (
        [Piece("Relu", ["x"], ["r"]),
         Piece("InstanceNormalization", ["r", "gain", "shift"], ["y"])],
        {name: _STATISTICS[name] for name in ("gain", "shift")},
        _FLOATS,
        _LINE,
    ),
    "InstanceNormalization of one or three axes behind a convolution or a pool": (
        [Piece("Conv", ["x", "whole"], ["c"], _CUBE),
         Piece("InstanceNormalization", ["c", "gain", "shift"], ["y"])],
        {"whole": _CUBES["whole"]} | {name: _STATISTICS[name] for name in ("gain", "shift")},
        _FLOATS,
        _VOLUME,
    ),
    "DequantizeLinear of a computed tensor": _DEQUANTISED,
    "DequantizeLinear of bytes, off 0 in uint8 or of a multiple of 4 cells": _DEQUANTISED,
    "DequantizeLinear of int32 with a zero point": (
        [Piece("DequantizeLinear", ["words", "scale", "none"], ["b"]),
         Piece("Add", ["x", "b"], ["y"])],
        {"words": np.array([300], np.int32), "none": np.array(0, np.int32),
         "scale": _OF_BYTES["scale"]},
        _FLOATS,
    ),
    "Squeeze or Unsqueeze of an open batch": (
        [Piece("Unsqueeze", ["x", "two"], ["y"])],
        {"two": np.array([2])},
        _FLOATS,
        (3, 2, 5),
    ),
    "input of the model with three axes": ([Piece("Relu", ["x"], ["y"])], {}, _FLOATS, _LINE),
    "Concat of a stored tensor that itself, or arithmetic in front, reads as well": (
        [Piece("Concat", ["block", "x", "block"], ["y"], {"axis": 2})],
        {"block": np.array([[[1], [3]]], np.float32)},
        _FLOATS,
        _LINE,
    ),
    "scales or zero points in a list": (
        [Piece("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
         Piece("DequantizeLinear", ["q", "scale", "zero"], ["y"])],
        {name: _OF_BYTES[name].reshape(1) for name in ("scale", "zero")},
        _FLOATS,
    ),
    "Sigmoid between bytes of two types": (
        [Piece("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
         Piece("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
         Piece("Sigmoid", ["d"], ["s"]),
         Piece("QuantizeLinear", ["s", "scale", "other"], ["t"]),
         Piece("DequantizeLinear", ["t", "scale", "other"], ["y"])],
        _OF_BYTES,
        _FLOATS,
    ),
    "sum, product and the like between bytes of two types": _of_two("Add", "other"),
    "difference, quotient, maximum or minimum between conversions of bytes": _of_two("Sub", "zero"),
    "uint8 as a result of the model": (
        [Piece("QuantizeLinear", ["x", "scale", "other"], ["y"])],
        {name: _OF_BYTES[name] for name in ("scale", "other")},
        ("float32", "uint8"),
    ),
    "uint8 that enters or leaves quantised operators": (
        [Piece("DequantizeLinear", ["x", "scale", "zero"], ["y"])],
        _SCALES,
        ("uint8", "float32"),
    ),
}  # fmt: skip
