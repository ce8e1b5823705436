"""Where models are run: one device, sessions kept open, and how far rounding moves results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.perturbed import PHASE, jumps, only_copies, perturbed
from onnxpad.model.comparing.pieces import exposed
from onnxpad.probing.agreement import magnitudes
from onnxpad.sessions import RunFailure, Session, Settings, open_session
from onnxpad.validation.tolerance import Tolerance

Array = NDArray[Any]
Results = dict[str, Array] | RunFailure
UNITS = {"float16": 2.0**-11, "float64": 2.0**-53, "bfloat16": 2.0**-8}
"""Half the distance of two neighbouring numbers about 1; that of float32 for any other type."""
# Every session keeps memory, and its own threads unless it is small; of many bytes of models only
# the sessions used last stay open.
_MOST_SESSIONS, _MOST_BYTES, _LEAST_SESSIONS = 64, 256 * 2**20, 2
_FEW_NODES = 8
_NOISY_RUNS = 4
_ANY_SUM = 2.0
"""Where nothing is known of how sums are made: in one row, or of transformed tiles (Winograd)."""
_STILL = 1e-2
"""Next to nothing, against the median of the channels."""


def silent(_: str) -> None:
    """Progress that nobody follows."""


@dataclass(eq=False)
class Bench:
    """Opens each model once per level and remembers it; `warnings` collects what users read."""

    settings: Settings
    warnings: list[str] = field(default_factory=list)
    progress: Callable[[str], None] = silent
    providers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tolerance: Tolerance | None = None
    _sessions: dict[tuple[Network, tuple[str, ...], bool], tuple[Session | RunFailure, int]] = (
        field(default_factory=dict)
    )
    _ran_on: dict[Network, tuple[str, ...]] = field(default_factory=dict)
    _noisy: dict[tuple[Network, bool], Network | None] = field(default_factory=dict)

    def warn(self, message: str) -> None:
        """Add a warning once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def look(self, right: Results, got: Results) -> None:
        """Hold results against the tolerance that was asked for, where what is right is known."""
        if self.tolerance is None or isinstance(right, RunFailure):
            return
        if isinstance(got, RunFailure):
            self.tolerance.look(None, None)
            return
        for name in right.keys() & got.keys():
            self.tolerance.look(right[name], got[name])

    def session(
        self, network: Network, names: Sequence[str] = (), *, optimise: bool = False
    ) -> Session | RunFailure:
        """The open model with further outputs `names`; a small one has one thread.

        Raises LimitMet where the child that opens it was ended.
        """
        key = (network, tuple(names), optimise)
        session, size = self._sessions.pop(key, (None, 0))
        if session is None or (isinstance(session, Session) and session.lost):
            threads = 1 if len(network.nodes) <= _FEW_NODES else self.settings.threads
            settings = replace(self.settings, optimise=optimise, threads=threads)
            settings = replace(settings, folder=network.folder)
            session, size = self._opened(network, names, settings)
            if isinstance(session, Session):
                self._ran_on.setdefault(network, session.providers)
        self._sessions[key] = session, size  # the last one that was used
        return session

    def _opened(
        self, network: Network, names: Sequence[str], settings: Settings
    ) -> tuple[Session | RunFailure, int]:
        """The session, of the model's own file where that is what is run: no copy is sent."""
        if network.file is not None and not names:
            size = network.file.stat().st_size
            self._make_room(size)
            session = open_session(network.file, settings, size)
            network.refuse_changed()
            if isinstance(session, Session):  # a refusal names the path: the bytes say the same
                return session, size
        model = exposed(network, names)
        self._make_room(len(model))
        return open_session(model, settings, network.outside_bytes), len(model)

    def _make_room(self, size: int) -> None:
        """Close the sessions that were not used for the longest time, for one of this size."""
        while self._sessions:
            taken = size + sum(held for _, held in self._sessions.values())
            is_much = len(self._sessions) >= _LEAST_SESSIONS and taken > _MOST_BYTES
            if not is_much and len(self._sessions) < _MOST_SESSIONS:
                break
            del self._sessions[next(iter(self._sessions))]

    def run(
        self,
        network: Network,
        feeds: Mapping[str, Array],
        names: Sequence[str] = (),
        *,
        optimise: bool = False,
    ) -> Results:
        """Outputs and `names` for these inputs."""
        session = self.session(network, names, optimise=optimise)
        return session if isinstance(session, RunFailure) else session.run(feeds)

    def note_providers(self, role: str, network: Network) -> None:
        """Remember which providers ran a model; the role stays out where no session opened."""
        if network not in self._ran_on:
            self.session(network)
        if network in self._ran_on:
            self.providers[role] = self._ran_on[network]

    def noise(
        self,
        network: Network,
        feeds: Mapping[str, Array],
        clean: Mapping[str, Array],
        *,
        foreign: bool = False,
    ) -> dict[str, Array] | None:
        """How far rounding alone may move each tensor of `clean`, or None where it cannot be told.

        The model is run with random errors of the size of its own rounding behind every operation
        (`model.comparing.perturbed`); twice the largest movement seen in a channel is its bound.
        The arrays broadcast against the tensors. `foreign` is for another runtime, whose sums are
        not known: it may add up in one row, and a whole tensor counts as one channel.
        """
        if only_copies(network):
            return {name: _stored(value, apart=not foreign) for name, value in clean.items()}
        if (network, foreign) not in self._noisy:
            sums = {"roundings": _ANY_SUM} if foreign or self.settings.device == "cuda" else {}
            self._noisy[network, foreign] = perturbed(network, **sums, of_whole=foreign)
        noisy = self._noisy[network, foreign]
        if noisy is None:
            return None
        moved = {name: np.zeros(()) for name in clean}
        apart = not foreign and not jumps(network)
        for phase in range(_NOISY_RUNS):
            results = self.run(noisy, {**feeds, PHASE: np.array(phase, np.float32)}, tuple(clean))
            if isinstance(results, RunFailure):
                return None
            for name, value in clean.items():
                movement = _movement(value, results[name], apart=apart)
                moved[name] = np.maximum(moved[name], movement)
        return {name: _bound(moved[name], value, apart=apart) for name, value in clean.items()}


def _movement(clean: Array, moved: Array, *, apart: bool) -> Array:
    """The largest movement in each channel (`apart`), or in the whole tensor."""
    if clean.shape != moved.shape or clean.dtype == object or clean.size == 0:
        return np.zeros(())
    with np.errstate(invalid="ignore"):
        distance = np.abs(clean.astype(np.float64) - moved.astype(np.float64))
    return _largest(np.where(np.isfinite(distance), distance, 0.0), apart=apart)


def _bound(moved: Array, clean: Array, *, apart: bool) -> Array:
    """Twice the movement, and the rounding of what is stored; broadcasts against `clean`.

    A channel of few cells may be still by chance: it moves at least as its size does in the median
    of the channels. One that holds next to nothing (behind a Relu) moves like the median one.
    """
    if clean.dtype.kind in "iubO" or clean.size == 0:
        return 2 * moved
    size = _largest(magnitudes(clean), apart=apart)
    live = size > 0
    if not live.any():
        return 2 * moved
    ratio = float(np.median(moved[live] / size[live]))
    bound = 2 * np.maximum(moved, ratio * size) + _unit(clean) * size
    still = size < _STILL * np.median(size[live])
    return np.where(still, np.maximum(bound, np.median(bound[live])), bound)


def _stored(value: Array, *, apart: bool) -> Array:
    """What storing the cells of a tensor may move them by, of each one if they are `apart`."""
    if value.dtype.kind in "iubO" or value.size == 0:
        return np.zeros(())
    wide = _unit(value) * magnitudes(value)
    return np.asarray(wide if apart else wide.max())


def _unit(value: Array) -> float:
    return 4 * UNITS.get(str(value.dtype), 2.0**-24)


def _largest(values: Array, *, apart: bool) -> Array:
    """The largest value of each channel, of all where they are not `apart`.

    Channels are axis 1; of three axes the last one may hold them as well, and the smaller counts.
    """
    if not apart:
        return np.asarray(values.max(initial=0.0))
    if values.ndim < 2:
        return values
    by_channel = []
    for channel in (1, 2) if values.ndim == 3 else (1,):
        others = tuple(axis for axis in range(values.ndim) if axis != channel)
        by_channel.append(values.max(axis=others, keepdims=True, initial=0.0))
    return np.asarray(np.minimum(by_channel[0], by_channel[-1]))
