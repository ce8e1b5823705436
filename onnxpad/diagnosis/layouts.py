"""References whose sizes fit the model in either layout, where the input came in the other one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench
from onnxpad.validation.request import GivenArrays

Array = NDArray[Any]
Values = Mapping[str, Sequence[Array]]
_WAYS = ((-1, 1, "channels last (NHWC)"), (1, -1, "channels first (NCHW)"))


@dataclass(frozen=True, slots=True)
class Reading:
    """Reference values in one layout; `turned` names those that were turned for it, `said` how."""

    expected: Values
    turned: tuple[str, ...] = ()
    said: str = ""

    @property
    def warning(self) -> str:
        """What the user is told of the reading."""
        names = ", ".join(f"'{name}'" for name in self.turned)
        return f"{names} read as {self.said}, as the input is: sizes alone do not tell"

    @property
    def doubt(self) -> str:
        """What the user is told where no reading explains anything."""
        names = ", ".join(f"'{name}'" for name in self.turned)
        return (
            f"the input is {self.said}, and the sizes of {names} fit either layout: both were "
            "tried and neither is explained; save the reference in the layout of the model"
        )


def readings(
    bench: Bench,
    network: Network,
    inputs: GivenArrays,
    samples: Sequence[Mapping[str, Array]],
    expected: Values,
) -> tuple[Reading, ...]:
    """The ways to read the reference, the likelier first: one, or two where sizes do not tell.

    Likelier is what has the sizes that the model gives, then what is nearer to its values.
    """
    plain = Reading(expected)
    way = _turned_by(inputs, samples[0])
    if way is None:
        return (plain,)
    source, target, said = way
    ran = bench.run(network, samples[0], tuple(expected))
    if isinstance(ran, RunFailure):
        return (plain,)
    names = tuple(n for n in expected if _untold(expected[n][0], ran[n], source, target))
    if not names:
        return (plain,)
    moved = {
        name: [np.ascontiguousarray(np.moveaxis(value, source, target)) for value in values]
        for name, values in expected.items()
        if name in names
    }
    other = Reading({**expected, **moved}, names, said)
    if not all(_stands(expected[name][0], ran[name], target) for name in names):
        return (other,)
    likelier = _apart(other, names, ran) <= _apart(plain, names, ran)
    return (other, plain) if likelier else (plain, other)


def _turned_by(inputs: GivenArrays, feeds: Mapping[str, Array]) -> tuple[int, int, str] | None:
    for name, given in inputs.items():
        value = np.asarray(given[0] if isinstance(given, list | tuple) else given)
        if name not in feeds or value.shape == feeds[name].shape or value.ndim < 3:
            continue
        for way in _WAYS:
            if np.moveaxis(value, way[0], way[1]).shape == feeds[name].shape:
                return way
    return None


def _untold(right: Array, got: Array, source: int, target: int) -> bool:
    """Whether the reference may have its channels at `source`, and sizes do not say that it has."""
    if right.ndim != got.ndim or got.ndim < 3 or right.shape[source] != got.shape[target]:
        return False
    return _stands(right, got, target) or right.shape[source] == got.shape[source]


def _stands(right: Array, got: Array, target: int) -> bool:
    """Whether the reference may have its channels where the model has them."""
    return bool(right.shape[target] == got.shape[target])


def _apart(reading: Reading, names: Sequence[str], ran: Mapping[str, Array]) -> tuple[int, float]:
    """How many references have other sizes than the model gives, and how far the others are."""
    misfits, left = 0, 0.0
    for name in names:
        right, got = reading.expected[name][0], ran[name]
        if right.shape != got.shape:
            misfits += 1
        else:
            left += float(np.square(right.astype(np.float64) - got.astype(np.float64)).sum())
    return misfits, left
