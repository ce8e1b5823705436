"""Inputs and reference outputs that somebody saved: .npz, .npy, folders test_data_set_*.

Every file is read as arrays by key. A key names a tensor ('x'), a tensor of a sample ('s1_x') or
the place of one ('s0_in0', 's0_ref0'); what has no names gets those of its places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from onnxpad.errors import RequestError, few, nearest
from onnxpad.model.comparing.networks import Network
from onnxpad.model.files.arrays import array_from_npy, arrays_in, folders_in, tensors_in
from onnxpad.validation.request import fits, quoted

Array = NDArray[Any]
Recorded: TypeAlias = "str | PathLike[str] | Sequence[str | PathLike[str]]"
Rows: TypeAlias = dict[str, dict[int, Array]]
"""Arrays by tensor, then by the sample's number."""
Samples = dict[str, list[Array]]
Warn: TypeAlias = Callable[[str], None]
BOTH = ("input", "output")
_PLACES = {"input": ("in",), "output": ("ref", "out", "src")}
_SHOWN = 6


def refuse_data_twice(data: object, inputs: object, outputs: object) -> None:
    """RequestError where `data` is given beside what it holds."""
    if data is not None and (inputs is not None or outputs is not None):
        raise RequestError("data holds inputs and outputs already: leave inputs and outputs out")


def recorded(data: Recorded, network: Network, warn: Warn) -> tuple[Samples, Samples]:
    """Inputs and outputs by tensor, a list each: the samples of all paths in order.

    A path is an .npz with both, a folder test_data_set_* or one that holds such folders. `warn`
    hears of arrays that match no tensor of the model. Raises RequestError where a path cannot be
    read, lacks an input or all outputs, or has other tensors than the one before it.
    """
    joined: tuple[Samples, Samples] = {}, {}
    paths = [data] if isinstance(data, str | PathLike) else data
    for path in [fspath(one) for one in paths]:
        for arrays in _files(path, network):
            found = _in_order(path, _sides(path, arrays, network, warn))
            for known, more in zip(joined, found, strict=True):
                if known and set(known) != set(more):
                    raise RequestError(
                        f"{path}: has {sorted(more)}, the samples before it {sorted(known)}"
                    )
                for name, values in more.items():
                    known.setdefault(name, []).extend(values)
    return joined


def recorded_apart(
    inputs: str, outputs: str | None, network: Network, warn: Warn
) -> tuple[Samples, Samples]:
    """Inputs from one file and outputs from another, if any, paired by the samples' numbers."""
    given = _one_side(inputs, network, warn, "input")
    expected = _one_side(outputs, network, warn, "output") if outputs else {}
    return _in_order(f"{inputs} and {outputs}" if outputs else inputs, (given, expected))


def _one_side(path: str, network: Network, warn: Warn, kind: str) -> Rows:
    """Inputs alone or outputs alone; an .npy is the first of them."""
    arrays: Mapping[str, Array]
    if Path(path).suffix == ".npy":
        arrays = {f"s0_{_PLACES[kind][0]}0": array_from_npy(path)}
    else:
        arrays = _archive(path, network, (kind,))
    return _sides(path, arrays, network, warn, (kind,))[BOTH.index(kind)]


def _files(path: str, network: Network) -> Iterator[Mapping[str, Array]]:
    """The arrays of an .npz, or of each folder, by key."""
    if not Path(path).is_dir():
        if Path(path).suffix == ".npy":
            raise RequestError(
                f"{path}: is one array: give the inputs as --inputs and the reference as --outputs"
            )
        yield _archive(path, network, BOTH)
        return
    folders = folders_in(Path(path))
    if not folders:
        raise RequestError(f"{path}: has neither input_0.pb nor folders test_data_set_*")
    for folder in folders:
        arrays: dict[str, Array] = {}
        for kind, rows in tensors_in(folder).items():
            names, placed = _tensors(network, kind)
            own = {name for name, _ in rows}
            if not own & names and len(rows) > len(placed):
                raise RequestError(
                    f"{folder}: has {kind}s {quoted(sorted(own))}, the model has {quoted(placed)}"
                )
            for at, (name, value) in enumerate(rows):
                arrays[name if own & names else f"s0_{_PLACES[kind][0]}{at}"] = value
        yield arrays


def _archive(path: str, network: Network, needs: Sequence[str]) -> Mapping[str, Array]:
    """The arrays of an .npz; those of np.savez without names (arr_0, ...) by place.

    Every input comes first, then outputs, as far as they are needed.
    """
    arrays = arrays_in(path, example=next(iter(network.fed), "x"))
    if not arrays or not all(re.fullmatch(r"arr_\d+", key) for key in arrays):
        return arrays
    keys = [
        f"s0_{_PLACES[kind][0]}{at}"
        for kind in needs
        for at in range(len(_tensors(network, kind)[1]))
    ]
    if len(needs) > 1 and not len(network.fed) < len(arrays) <= len(keys):
        raise RequestError(
            f"{path}: has {len(arrays)} arrays without names, the model has the inputs "
            f"{quoted(network.fed)} and the outputs {quoted(network.outputs)}: save them by name, "
            "np.savez(path, input=..., output=...)"
        )
    return dict(zip(keys, arrays.values(), strict=False))


def _tensors(network: Network, kind: str) -> tuple[set[str], Sequence[str]]:
    """What inputs or outputs may be called, and those that are counted by place."""
    if kind == "input":
        return set(network.fed), network.fed
    return set(network.tensors), network.outputs


def _sides(
    path: str,
    arrays: Mapping[str, Array],
    network: Network,
    warn: Warn,
    needs: Sequence[str] = BOTH,
) -> tuple[Rows, Rows]:
    """Inputs and outputs among arrays; `warn` hears of keys that match nothing.

    Raises RequestError where one of `needs` is missing.
    """
    used: set[str] = set()
    sides = tuple(_rows(arrays, network, kind, used) for kind in BOTH)
    if needs == BOTH and not all(sides) and (keys := _only_reading(arrays, network)):
        fed, made = network.fed[0], network.outputs[0]
        warn(
            f"{path}: '{keys[0]}' is read as the input '{fed}' and '{keys[1]}' as the output "
            f"'{made}': the model has one of each, and only so their shapes fit"
        )
        return {fed: {0: arrays[keys[0]]}}, {made: {0: arrays[keys[1]]}}
    for kind, side in zip(BOTH, sides, strict=True):
        if kind in needs and not side:
            names = quoted(_tensors(network, kind)[1][:_SHOWN])
            hint = "an .npy file needs no names"
            if len(needs) > 1:
                hint = f"arrays without names go by place: np.savez({path!r}, x, y), inputs first"
            raise RequestError(
                f"{path}: has {quoted(list(arrays)[:_SHOWN])}, and no {kind}: expected {names}, or "
                f"keys such as 's0_in0' and 's0_ref0'; {hint}"
            )
    if left := [key for key in arrays if key not in used]:
        free = set(network.fed).union(network.tensors) - used
        near = next(filter(None, (nearest(key, sorted(free)) for key in left)), [])
        hint = f"; did you mean '{near[0]}'?" if near else ""
        names = few([f"'{key}'" for key in left], _SHOWN)
        warn(
            f"{path}: {names} {'is' if len(left) == 1 else 'are'} left out: no input and no tensor "
            f"that the model computes has the name, or it is given already{hint}"
        )
    return sides[0], sides[1]


def _rows(arrays: Mapping[str, Array], network: Network, kind: str, used: set[str]) -> Rows:
    """The arrays of one side: under names, else under samples and names or places.

    Adds their keys to `used`.
    """
    names, placed = _tensors(network, kind)
    place = re.compile(rf"({'|'.join(_PLACES[kind])})(\d{{1,9}})")
    found: Rows = {name: {0: arrays[name]} for name in arrays if name in names}
    used.update(found)
    if found:
        return found
    for key, value in arrays.items():
        if (match := re.fullmatch(r"s(\d{1,9})_(.+)", key)) is None:
            continue
        sample, name, counted = int(match[1]), match[2], place.fullmatch(match[2])
        if name not in names and counted and int(counted[2]) < len(placed):
            name = placed[int(counted[2])]
        if name in names | set(placed) and sample not in found.setdefault(name, {}):
            found[name][sample] = value
            used.add(key)
    return found


def _only_reading(arrays: Mapping[str, Array], network: Network) -> tuple[str, str] | None:
    """The keys of input and output where a model has one of each, and shapes leave one reading."""
    if not len(network.fed) == len(network.outputs) == 1 or len(arrays) != len(BOTH):
        return None
    takes = network.input_types()[network.fed[0]].dims
    gives = network.stated_types()[network.outputs[0]].dims
    readings = [
        (one, other)
        for one, other in permutations(arrays)
        if (takes is None or fits(arrays[one].shape, takes))
        and (gives is None or fits(arrays[other].shape, gives))
        and one not in network.tensors
        and other not in network.fed
    ]
    return readings[0] if len(readings) == 1 else None


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
