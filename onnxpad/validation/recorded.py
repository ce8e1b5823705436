"""Inputs and reference outputs that somebody saved: .npz, .npy, folders test_data_set_*."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from onnxpad.errors import RequestError, few, nearest
from onnxpad.geometry.size import Size
from onnxpad.model.comparing.networks import Network
from onnxpad.model.files.arrays import array_from_npy, arrays_in, folders_in, tensors_in
from onnxpad.validation.request import fits, quoted

Array = NDArray[Any]
OUTPUTS = ("out", "ref", "src")
Rows: TypeAlias = dict[str, dict[int, Array]]
Warn: TypeAlias = Callable[[str], None]
_SHOWN = 6
Samples = dict[str, list[Array]]


Recorded: TypeAlias = "str | PathLike[str] | Sequence[str | PathLike[str]]"


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
    inputs: Samples = {}
    outputs: Samples = {}
    given = [data] if isinstance(data, str | PathLike) else data
    for number, path in enumerate(fspath(one) for one in given):
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


class Sides(NamedTuple):
    """Inputs and outputs of a file: by tensor, then by the sample's number."""

    inputs: Rows
    outputs: Rows


def sides_in_npz(
    path: str | Path, network: Network, warn: Warn, needs: Sequence[str] = ("input", "output")
) -> Sides:
    """What an .npz file holds: by name, as 's0_in0' and 's0_ref0', or by position.

    A name may carry a sample, as in 's1_features'. Without any names (arr_0, arr_1, ... of
    np.savez) the inputs come first. Positions count the model's inputs and outputs; tensors
    inside go by name. `warn` hears of keys that match nothing. RequestError where the file cannot
    be read, lacks one of `needs`, or has too many or too few arrays without names.
    """
    arrays = arrays_in(path, example=next(iter(network.fed), "x"))
    if arrays and all(re.fullmatch(r"arr_\d+", key) for key in arrays):
        return _by_position(path, list(arrays.values()), network)
    used: set[str] = set()
    found = Sides(
        _by_key(arrays, network.fed, network.fed, ("in",), used),
        _by_key(arrays, network.tensors, network.outputs, OUTPUTS, used),
    )
    if len(needs) > 1 and not (found.inputs and found.outputs):
        found = _by_count(path, arrays, network, warn) or found
        used.update(arrays if found.inputs and found.outputs else ())
    for kind, side, names in (
        ("input", found.inputs, network.fed),
        ("output", found.outputs, network.outputs),
    ):
        if kind in needs and not side:
            raise RequestError(
                f"{path}: has {quoted(list(arrays)[:_SHOWN])}, and no {kind}: expected "
                f"{quoted(names[:_SHOWN])}, or keys such as 's0_in0' and 's0_ref0'"
                f"{_by_place(path, network, needs)}"
            )
    left = [key for key in arrays if key not in used]
    if left:
        say_what_is_left(path, left, set(network.fed).union(network.tensors) - used, warn)
    return found


def _by_count(
    path: str | Path, arrays: Mapping[str, Array], network: Network, warn: Warn
) -> Sides | None:
    """Two arrays of a model with one input and one output, where shapes leave one reading."""
    if not len(network.fed) == len(network.outputs) == 1 or len(arrays) != len(Sides._fields):
        return None
    (fed,), (made,) = network.fed, network.outputs
    takes, gives = network.input_types()[fed].dims, network.stated_types()[made].dims
    readings = [
        (one, other)
        for one, other in permutations(arrays)
        if _may_be(arrays[one], takes) and _may_be(arrays[other], gives)
        if one not in network.tensors and other not in network.fed
    ]
    if len(readings) != 1:
        return None
    ((one, other),) = readings
    warn(
        f"{path}: '{one}' is read as the input '{fed}' and '{other}' as the output '{made}': the "
        "model has one of each, and only so their shapes fit"
    )
    return Sides({fed: {0: arrays[one]}}, {made: {0: arrays[other]}})


def _may_be(value: Array, dims: Sequence[Size | None] | None) -> bool:
    """Whether an array has the rank and the sizes that a file states."""
    return dims is None or (value.ndim == len(dims) and fits(value.shape, dims))


def _by_place(path: str | Path, network: Network, needs: Sequence[str]) -> str:
    """How to give arrays under names of another framework: without names, by place."""
    alone = len(network.fed) == len(network.outputs) == 1
    if not needs[1:]:
        return "; an .npy file needs no names" if alone else ""
    both = ", or --inputs x.npy --outputs y.npy" if alone else ", every input, then every output"
    return f"; arrays without names go by place: np.savez({str(path)!r}, x, y){both}"


def say_what_is_left(path: str | Path, names: Sequence[str], free: set[str], warn: Warn) -> None:
    """Warn of names that match nothing, with the nearest of the `free` ones."""
    likely = (nearest(name, sorted(free)) for name in names)
    near = next((found[0] for found in likely if found), "")
    hint = f"; did you mean '{near}'?" if near else ""
    left = few([f"'{name}'" for name in names], _SHOWN)
    are, they, name = ("is", "it", "names") if len(names) == 1 else ("are", "they", "name")
    warn(
        f"{path}: {left} {are} left out: {they} {name} no input and no tensor that the model "
        f"computes, or one that is given already{hint}"
    )


def in_order(path: str | Path, side: Sides) -> tuple[dict[str, list[Array]], ...]:
    """Inputs and outputs, the samples as lists.

    RequestError where a sample lacks a tensor that another sample has.
    """
    tensors = side.inputs | side.outputs
    every = {sample for rows in tensors.values() for sample in rows}
    for name, rows in tensors.items():
        if missing := sorted(every - set(rows)):
            raise RequestError(
                f"{path}: sample {missing[0]} lacks '{name}', which sample {min(rows)} has: save "
                "the same tensors of every sample"
            )
    return tuple(
        {name: [rows[sample] for sample in sorted(rows)] for name, rows in tensors.items()}
        for tensors in side
    )


def _by_position(path: str | Path, values: Sequence[Array], network: Network) -> Sides:
    more = len(values) - len(network.fed)
    if not 0 < more <= len(network.outputs):
        raise RequestError(
            f"{path}: has {len(values)} arrays without names, the model has the inputs "
            f"{quoted(network.fed)} and the outputs {quoted(network.outputs)}: save them by name, "
            "np.savez(path, input=..., output=...)"
        )
    cut = len(network.fed)
    inputs = {name: {0: value} for name, value in zip(network.fed, values, strict=False)}
    outputs = {name: {0: value} for name, value in zip(network.outputs, values[cut:], strict=False)}
    return Sides(inputs, outputs)


def _by_key(
    arrays: Mapping[str, Array],
    names: Sequence[str],
    placed: Sequence[str],
    kinds: Sequence[str],
    used: set[str],
) -> Rows:
    """Arrays under names, under samples and names, or under samples and places in `placed`."""
    known = set(names)
    plain = {name: {0: arrays[name]} for name in arrays if name in known}
    if plain:
        used.update(plain)
        return plain
    found: Rows = {}
    for key, value in arrays.items():
        match = re.fullmatch(r"s(\d{1,9})_(.+)", key)
        if match is None:
            continue
        numbered = re.fullmatch(rf"({'|'.join(kinds)})(\d{{1,9}})", match[2])
        name = match[2] if match[2] in known else ""
        if not name and numbered and int(numbered[2]) < len(placed):
            name = placed[int(numbered[2])]
        rows = found.setdefault(name, {}) if name else {}
        if name and int(match[1]) not in rows:
            rows[int(match[1])] = value
            used.add(key)
    return found
