"""Inputs and reference outputs that somebody saved: .npz, .npy, folders test_data_set_*.

Every file is read as arrays by key. A key names a tensor ('x'), a tensor of a sample ('s1_x') or
the place of one ('s0_in0', 's0_ref0'); what has no names gets those of its places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from onnxpad.errors import RequestError, few
from onnxpad.model.comparing.networks import Network
from onnxpad.model.files.arrays import array_from_npy, arrays_in, folders_in, tensors_in
from onnxpad.validation.request import quoted

Array = NDArray[Any]
Recorded: TypeAlias = "str | PathLike[str] | Sequence[str | PathLike[str]]"
Rows: TypeAlias = dict[str, dict[int, Array]]
"""Arrays by tensor, then by the sample's number."""
Samples = dict[str, list[Array]]
Warn: TypeAlias = Callable[[str], None]
_PLACES = {"input": "in", "output": "ref|out|src"}
"""What stands in front of the place of an input or an output; the first is how it is counted."""
_BOTH = ("input", "output")
_SHOWN = 6


def refuse_data_twice(data: object, inputs: object, outputs: object) -> None:
    """RequestError where `data` is given beside what it holds, or is arrays."""
    if isinstance(data, Mapping):
        raise RequestError("data names files: give arrays by tensor as inputs and outputs")
    if data is not None and (inputs is not None or outputs is not None):
        raise RequestError("data holds inputs and outputs already: leave inputs and outputs out")


def recorded(data: Recorded, network: Network, warn: Warn) -> tuple[Samples, Samples]:
    """Inputs and outputs by tensor, a list each: the samples of all paths in order.

    A path is an .npz with both, a folder test_data_set_* or one that holds such folders. `warn`
    hears of arrays that match no tensor of the model. Raises RequestError where a path cannot be
    read, lacks an input or all outputs, or where a sample lacks a tensor.
    """
    sides, count, name = (Rows(), Rows()), 0, ""
    for path in [data] if isinstance(data, str | PathLike) else data:
        name = fspath(path)
        for arrays in _files(name, network):
            more = _sides(name, arrays, network, warn, _BOTH)
            for side, rows in zip(sides, more, strict=True):
                for tensor, values in rows.items():
                    own = side.setdefault(tensor, {})
                    own |= {count + sample: value for sample, value in values.items()}
            count = 1 + max(sample for rows in sides[0].values() for sample in rows)
    return _in_order(name, sides)


def recorded_apart(
    inputs: str, outputs: str | None, network: Network, warn: Warn
) -> tuple[Samples, Samples]:
    """Inputs from one file and outputs from another, if any, paired by the samples' numbers."""
    sides = [Rows(), Rows()]
    for at, (path, kind) in enumerate(zip((inputs, outputs), _BOTH, strict=True)):
        if path is None:
            continue
        if Path(path).suffix == ".npy":
            arrays: Mapping[str, Array] = {_key(kind, 0): array_from_npy(path)}
        else:
            arrays = _archive(path, network, (kind,))
        sides[at] = _sides(path, arrays, network, warn, (kind,))[at]
    return _in_order(f"{inputs} and {outputs}" if outputs else inputs, (sides[0], sides[1]))


def _key(kind: str, place: int) -> str:
    return f"s0_{_PLACES[kind].partition('|')[0]}{place}"


def _files(path: str, network: Network) -> Iterator[Mapping[str, Array]]:
    """The arrays of an .npz, or of each folder, by key."""
    if not Path(path).is_dir():
        if Path(path).suffix == ".npy":
            raise RequestError(
                f"{path}: is one array: give the inputs as --inputs and the reference as --outputs"
            )
        yield _archive(path, network, _BOTH)
        return
    folders = folders_in(Path(path))
    if not folders:
        raise RequestError(f"{path}: has neither input_0.pb nor folders test_data_set_*")
    for folder in folders:
        arrays: dict[str, Array] = {}
        for kind, rows in tensors_in(folder).items():
            is_named = any(name in _tensors(network, kind)[0] for name, _ in rows)
            for at, (name, value) in enumerate(rows):
                arrays[name if is_named else _key(kind, at)] = value
        yield arrays


def _archive(path: str, network: Network, needs: Sequence[str]) -> Mapping[str, Array]:
    """The arrays of an .npz; those of np.savez without names (arr_0, ...) by place.

    Every input comes first, then outputs, as far as they are needed.
    """
    arrays = arrays_in(path, example=next(iter(network.fed), "x"))
    if not arrays or not all(re.fullmatch(r"arr_\d+", key) for key in arrays):
        return arrays
    keys = [_key(kind, at) for kind in needs for at in range(len(_tensors(network, kind)[1]))]
    places = dict(zip(arrays, keys, strict=False))
    return {places.get(key, key): value for key, value in arrays.items()}


def _tensors(network: Network, kind: str) -> tuple[set[str], Sequence[str]]:
    """What inputs or outputs may be called, and those that are counted by place."""
    if kind == "input":
        return set(network.fed), network.fed
    return set(network.tensors), network.outputs


def _sides(
    path: str, arrays: Mapping[str, Array], network: Network, warn: Warn, needs: Sequence[str]
) -> tuple[Rows, Rows]:
    """Inputs and outputs among arrays; `warn` hears of keys that match nothing.

    Raises RequestError where one of `needs` is missing.
    """
    sides, unused = (Rows(), Rows()), list[str]()
    for key, value in arrays.items():
        is_used = False
        for kind, rows in zip(_BOTH, sides, strict=True):
            name, sample = _place(key, network, kind)
            if name and sample not in rows.setdefault(name, {}):
                rows[name][sample], is_used = value, True
        unused += [] if is_used else [f"'{key}'"]
    for kind, side in zip(_BOTH, sides, strict=True):
        if kind in needs and not side:
            names = quoted(_tensors(network, kind)[1][:_SHOWN])
            raise RequestError(
                f"{path}: has {quoted(list(arrays)[:_SHOWN])}, and no {kind}: expected {names}, or "
                "keys such as 's0_in0' and 's0_ref0'; arrays without names go by place: "
                "np.savez('reference.npz', x, y), inputs first"
            )
    if unused:
        warn(
            f"{path}: {few(unused, _SHOWN)} {'is' if len(unused) == 1 else 'are'} left out: no "
            "input and no tensor that the model computes has the name, or it is given already"
        )
    return sides


def _place(key: str, network: Network, kind: str) -> tuple[str, int]:
    """The tensor of a side that a key names, under its name or a place, and the sample; '' if none.

    What has no sample in its key is the first one.
    """
    names, placed = _tensors(network, kind)
    match = None if key in names else re.fullmatch(r"s(\d{1,9})_(.+)", key)
    sample, name = (int(match[1]), match[2]) if match else (0, key)
    place = re.fullmatch(rf"({_PLACES[kind]})(\d{{1,9}})", name) if match else None
    if name not in names and place and int(place[2]) < len(placed):
        name = placed[int(place[2])]
    return (name, sample) if name in names else ("", 0)


def _in_order(path: str, sides: tuple[Rows, Rows]) -> tuple[Samples, Samples]:
    """Inputs and outputs, the samples as lists.

    RequestError where a sample lacks a tensor that another sample has.
    """
    tensors = sides[0] | sides[1]
    every = {sample for rows in tensors.values() for sample in rows}
    for name, rows in tensors.items():
        if missing := sorted(every - set(rows)):
            raise RequestError(
                f"{path}: sample {missing[0]} lacks '{name}', which sample {min(rows)} has: save "
                "the same tensors of every sample"
            )
    inputs, outputs = (
        {name: [rows[sample] for sample in sorted(rows)] for name, rows in side.items()}
        for side in sides
    )
    return inputs, outputs
