"""Inputs and reference outputs that somebody saved: .npz, .npy, folders test_data_set_*."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.model.comparing.networks import Network
from onnxpad.model.files.datasets import folders_in, tensors_in
from onnxpad.validation.archive import array_from_npy
from onnxpad.validation.pairing import Rows, Sides, Warn, in_order, say_what_is_left, sides_in_npz
from onnxpad.validation.request import quoted

Array = NDArray[Any]
Samples = dict[str, list[Array]]


def recorded(paths: Sequence[str], network: Network, warn: Warn) -> tuple[Samples, Samples]:
    """Inputs and outputs by tensor, a list each: the samples of all `paths` in order.

    A path is an .npz with both, a folder test_data_set_* or one that holds such folders. `warn`
    hears of arrays that match no tensor of the model. Raises RequestError where a path cannot be
    read, lacks an input or all outputs, or has other tensors than the one before it.
    """
    inputs: Samples = {}
    outputs: Samples = {}
    for number, path in enumerate(paths):
        for more_inputs, more_outputs in _read(path, network, warn):
            for known, more in ((inputs, more_inputs), (outputs, more_outputs)):
                if (number or known) and set(known) != set(more):
                    raise RequestError(
                        f"{path}: has {sorted(more)}, the samples before it {sorted(known)}"
                    )
                for name, values in more.items():
                    known.setdefault(name, []).extend(values)
    return inputs, outputs


def recorded_apart(
    inputs: str, outputs: str, network: Network, warn: Warn
) -> tuple[Samples, Samples]:
    """Inputs from one file and outputs from another, paired by the samples' numbers."""
    found = Sides(
        _one_side(inputs, network, warn, "input"), _one_side(outputs, network, warn, "output")
    )
    given, expected = in_order(f"{inputs} and {outputs}", found)
    return given, expected


def recorded_inputs(path: str, network: Network, warn: Warn) -> Samples:
    """Inputs alone, as `recorded_apart` reads them."""
    return in_order(path, Sides(_one_side(path, network, warn, "input"), {}))[0]


def _one_side(path: str, network: Network, warn: Warn, kind: str) -> Rows:
    """Inputs alone or outputs alone, from .npz, or .npy for the first of them."""
    names = network.fed if kind == "input" else network.outputs
    if Path(path).suffix == ".npy":
        return {name: {0: array_from_npy(path)} for name in names[:1]}
    found = sides_in_npz(path, network, warn, (kind,))
    return found.inputs if kind == "input" else found.outputs


def _read(path: str, network: Network, warn: Warn) -> list[tuple[Samples, Samples]]:
    if Path(path).is_dir():
        folders = folders_in(Path(path))
        if not folders:
            raise RequestError(f"{path}: has neither input_0.pb nor folders test_data_set_*")
        return [_from_folder(folder, network, warn) for folder in folders]
    if Path(path).suffix == ".npy":
        raise RequestError(
            f"{path}: is one array: give the inputs as --inputs and the reference as --outputs"
        )
    inputs, outputs = in_order(path, sides_in_npz(path, network, warn))
    return [(inputs, outputs)]


def _from_folder(folder: Path, network: Network, warn: Warn) -> tuple[Samples, Samples]:
    """Tensors by their own names where the model has one of these, else by their numbers."""
    found = tensors_in(folder)
    sides: list[Samples] = []
    for kind, names, placed in (
        ("input", network.fed, network.fed),
        ("output", network.tensors, network.outputs),
    ):
        rows, known = found[kind], set(names)
        if not rows:
            raise RequestError(f"{folder}: has no {kind}_0.pb")
        named = {name: [value] for name, value in rows if name in known}
        if not named and len(rows) > len(placed):
            raise RequestError(
                f"{folder}: has {kind}s {quoted([name for name, _ in rows])}, the model has "
                f"{quoted(placed)}"
            )
        left = [name for name, _ in rows if name not in known]
        if named and left:
            say_what_is_left(folder, left, known - set(named), warn)
        by_place = zip(placed, rows, strict=False)
        sides.append(named or {name: [value] for name, (_, value) in by_place})
    return sides[0], sides[1]
