"""Which array of a file is which tensor of which sample, and what is left over."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.model.comparing.networks import Network
from onnxpad.validation.archive import OUTPUTS, arrays_in
from onnxpad.validation.request import quoted

Array = NDArray[Any]
Rows: TypeAlias = dict[str, dict[int, Array]]
Warn: TypeAlias = Callable[[str], None]
_SHOWN = 6


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


def _by_place(path: str | Path, network: Network, needs: Sequence[str]) -> str:
    """How to give arrays under names of another framework: without names, by place."""
    alone = len(network.fed) == len(network.outputs) == 1
    if not needs[1:]:
        return "; an .npy file needs no names" if alone else ""
    both = ", or --inputs x.npy --outputs y.npy" if alone else ", every input, then every output"
    return f"; arrays without names go by place: np.savez({str(path)!r}, x, y){both}"


def say_what_is_left(path: str | Path, names: Sequence[str], free: set[str], warn: Warn) -> None:
    """Warn of names that match nothing, with the nearest of the `free` ones."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    nearest = (get_close_matches(name, sorted(free), 1) for name in names)
    near = next((found[0] for found in nearest if found), "")
    hint = f"; did you mean '{near}'?" if near else ""
    are, they, name = ("is", "it", "names") if len(names) == 1 else ("are", "they", "name")
    warn(
        f"{path}: {quoted(names[:_SHOWN])}{more} {are} left out: {they} {name} no input and no "
        f"tensor that the model computes, or one that is given already{hint}"
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
        match = re.fullmatch(r"s(\d+)_(.+)", key)
        if match is None:
            continue
        place = re.fullmatch(rf"({'|'.join(kinds)})(\d+)", match[2])
        name = match[2] if match[2] in known else ""
        if not name and place and int(place[2]) < len(placed):
            name = placed[int(place[2])]
        rows = found.setdefault(name, {}) if name else {}
        if name and int(match[1]) not in rows:
            rows[int(match[1])] = value
            used.add(key)
    return found
