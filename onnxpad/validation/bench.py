"""Where models are run: one device, sessions kept open, and how large rounding is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.perturbed import PHASE, jumps, only_copies, perturbed
from onnxpad.model.comparing.pieces import exposed
from onnxpad.sessions import RunFailure, Session, Settings, open_session
from onnxpad.validation.movement import bounds_of, movement, stored
from onnxpad.validation.tolerance import Tolerance

Array = NDArray[Any]
Results = dict[str, Array] | RunFailure
NOISE_RUNS = 4
# Every session keeps memory, and its own threads unless it is small.
MOST_SESSIONS = 64
# Beyond so many bytes of models, only the sessions used last stay open.
MOST_BYTES, LEAST_SESSIONS = 256 * 2**20, 2
FEW_NODES = 8
# Where nothing is known of how sums are made: in one row, or of transformed tiles (Winograd).
_ANY_SUM = 2.0


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
    _sessions: dict[tuple[Network, tuple[str, ...], bool, int], Session | RunFailure] = field(
        default_factory=dict
    )
    _sizes: dict[Network, int] = field(default_factory=dict)
    _ran_on: dict[Network, tuple[str, ...]] = field(default_factory=dict)
    _noisy: dict[tuple[Network, bool], Network | None] = field(default_factory=dict)

    @property
    def on_cuda(self) -> bool:
        """Whether this bench runs on a GPU."""
        return self.settings.device == "cuda"

    def warn(self, message: str) -> None:
        """Add a warning once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def look(self, right: Results, got: Results) -> None:
        """Hold results against the tolerance that was asked for, where one was."""
        if self.tolerance is None:
            return
        if isinstance(right, RunFailure):
            return  # what is right is not known
        if isinstance(got, RunFailure):
            self.tolerance.look(None, None)
            return
        for name in right.keys() & got.keys():
            self.tolerance.look(right[name], got[name])

    def session(
        self,
        network: Network,
        names: Sequence[str] = (),
        *,
        optimise: bool = False,
        threads: int | None = None,
    ) -> Session | RunFailure:
        """The open model with further outputs `names`; a small one has one thread.

        Raises LimitMet where the child that opens it was ended.
        """
        if threads is None:
            threads = 1 if len(network.nodes) <= FEW_NODES else self.settings.threads
        key = (network, tuple(names), optimise, threads)
        known = self._sessions.get(key)
        if known is None or (isinstance(known, Session) and known.lost):
            settings = replace(
                self.settings,
                optimise=optimise,
                folder=network.folder,
                threads=threads,
            )
            known = None
            self._make_room(self._sizes.get(network, 0))  # before there are bytes of it
            known = self._opened(network, names, settings)
            if isinstance(known, Session):
                self._ran_on.setdefault(network, known.providers)
        self._sessions.pop(key, None)
        self._sessions[key] = known
        return known

    def _opened(
        self, network: Network, names: Sequence[str], settings: Settings
    ) -> Session | RunFailure:
        """The session, of the model's own file where that is what is run: no copy is sent."""
        if network.file is not None and not names:
            self._sizes[network] = size = network.file.stat().st_size
            self._make_room(size)
            known = open_session(network.file, settings, size)
            network.refuse_changed()
            if isinstance(known, Session):  # a refusal names the path: the bytes say the same
                return known
        model = exposed(network, names)
        self._sizes[network] = len(model)
        self._make_room(len(model))
        return open_session(model, settings, network.outside_bytes)

    def _make_room(self, size: int) -> None:
        """Close the sessions that were not used for the longest time, for one of this size."""
        while self._sessions:
            taken = size + sum(self._sizes[key[0]] for key in self._sessions)
            many = len(self._sessions) >= LEAST_SESSIONS and taken > MOST_BYTES
            if not many and len(self._sessions) < MOST_SESSIONS:
                break
            del self._sessions[next(iter(self._sessions))]

    def close_large(self) -> None:
        """Close the sessions whose models take much of the memory that sessions may take."""
        for key in [key for key in self._sessions if self._sizes[key[0]] > MOST_BYTES // 8]:
            del self._sessions[key]

    def run(
        self,
        network: Network,
        feeds: Mapping[str, Array],
        names: Sequence[str] = (),
        *,
        optimise: bool = False,
        threads: int | None = None,
    ) -> Results:
        """Outputs and `names` for these inputs."""
        session = self.session(network, names, optimise=optimise, threads=threads)
        return session if isinstance(session, RunFailure) else session.run(feeds)

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
        key = (network, foreign)
        if key not in self._noisy:
            rough = foreign or self.on_cuda
            sums = {"roundings": _ANY_SUM} if rough else {}
            self._noisy[key] = perturbed(network, **sums, of_whole=foreign)
        noisy = self._noisy[key]
        if noisy is None:
            copied = only_copies(network)
            return (
                {n: stored(value, apart=not foreign) for n, value in clean.items()}
                if copied
                else None
            )
        moved = {name: np.zeros(()) for name in clean}
        apart = not foreign and not jumps(network)
        for phase in range(NOISE_RUNS):
            moving = {**feeds, PHASE: np.array(phase, np.float32)}
            results = self.run(noisy, moving, tuple(clean))
            if isinstance(results, RunFailure):
                return None
            for name, value in clean.items():
                found = movement(value, results[name], apart=apart)
                moved[name] = np.maximum(moved[name], found)
        return {n: bounds_of(moved[n], value, apart=apart) for n, value in clean.items()}

    def note_providers(self, role: str, network: Network) -> None:
        """Remember which providers ran a model; the role stays out where no session opened."""
        if network not in self._ran_on:
            self.session(network)
        if network in self._ran_on:
            self.providers[role] = self._ran_on[network]
