"""Inputs and reference outputs that somebody saved: .npz, .npy, folders test_data_set_*."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.graph.comparison.networks import Network
from onnxpad.graph.storage.datasets import folders_in, tensors_in
from onnxpad.validation.archive import OUTPUTS, array_from_npy, pair_from_npz, samples_from_npz

Array = NDArray[Any]
Samples = dict[str, list[Array]]


def recorded(paths: Sequence[str], network: Network) -> tuple[Samples, Samples]:
    """Inputs and outputs by tensor, a list each: the samples of all `paths` in order.

    A path is an .npz with both, a folder test_data_set_* or one that holds such folders. Raises
    RequestError where one cannot be read, lacks an input or all outputs, or has other tensors
    than the one before it.
    """
    inputs: Samples = {}
    outputs: Samples = {}
    for number, path in enumerate(paths):
        for more_inputs, more_outputs in _read(path, network):
            for known, more in ((inputs, more_inputs), (outputs, more_outputs)):
                if (number or known) and set(known) != set(more):
                    raise RequestError(
                        f"{path}: has {sorted(more)}, the samples before it {sorted(known)}"
                    )
                for name, values in more.items():
                    known.setdefault(name, []).extend(values)
    return inputs, outputs


def one_side(path: str, names: Sequence[str], kinds: Sequence[str]) -> Samples:
    """Samples of inputs alone or outputs alone, from .npz, or .npy for the first of `names`."""
    if Path(path).suffix == ".npy":
        return {names[0]: [array_from_npy(path)]}
    return samples_from_npz(path, names, kinds)


def recorded_apart(inputs: str, outputs: str, network: Network) -> tuple[Samples, Samples]:
    """Inputs from one file and outputs from another."""
    tensors = [*network.outputs, *network.producers]
    return one_side(inputs, network.fed, ("in",)), one_side(outputs, tensors, OUTPUTS)


def _read(path: str, network: Network) -> list[tuple[Samples, Samples]]:
    tensors = [*network.outputs, *network.producers]
    if Path(path).is_dir():
        folders = folders_in(Path(path))
        if not folders:
            raise RequestError(f"{path}: has neither input_0.pb nor folders test_data_set_*")
        return [_from_folder(folder, network.fed, tensors) for folder in folders]
    if Path(path).suffix == ".npy":
        raise RequestError(
            f"{path}: is one array: give the inputs as --inputs and the reference as --outputs"
        )
    return [pair_from_npz(path, network.fed, tensors)]


def _from_folder(
    folder: Path, fed: Sequence[str], tensors: Sequence[str]
) -> tuple[Samples, Samples]:
    found = tensors_in(folder)
    sides = []
    for kind, names in (("input", fed), ("output", tensors)):
        rows = found[kind]
        if not rows:
            raise RequestError(f"{folder}: has no {kind}_0.pb")
        by_name = all(name in names for name, _ in rows)
        if not by_name and len(rows) > len(names):
            raise RequestError(f"{folder}: has {len(rows)} {kind}s, the model has {len(names)}")
        sides.append(
            {
                (name if by_name else names[place]): [value]
                for place, (name, value) in enumerate(rows)
            }
        )
    return sides[0], sides[1]
