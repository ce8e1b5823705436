"""Where models are run: one device, and sessions kept open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import exposed
from onnxpad.sessions import RunFailure, Session, Settings, open_session
from onnxpad.validation.tolerance import Tolerance

Array = NDArray[Any]
Results = dict[str, Array] | RunFailure
# Every session keeps memory, and its own threads unless it is small.
MOST_SESSIONS = 64
# Beyond so many bytes of models, only the sessions used last stay open.
MOST_BYTES, LEAST_SESSIONS = 256 * 2**20, 2
FEW_NODES = 8


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
    _sessions: dict[tuple[Network, tuple[str, ...], bool], Session | RunFailure] = field(
        default_factory=dict
    )
    _sizes: dict[Network, int] = field(default_factory=dict)
    _ran_on: dict[Network, tuple[str, ...]] = field(default_factory=dict)
    noisy: dict[tuple[Network, bool], Network] = field(default_factory=dict)

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
        self, network: Network, names: Sequence[str] = (), *, optimise: bool = False
    ) -> Session | RunFailure:
        """The open model with further outputs `names`; a small one has one thread.

        Raises LimitMet where the child that opens it was ended.
        """
        key = (network, tuple(names), optimise)
        known = self._sessions.pop(key, None)
        if known is None or (isinstance(known, Session) and known.lost):
            settings = replace(self.settings, optimise=optimise, folder=network.folder)
            if len(network.nodes) <= FEW_NODES:
                settings = replace(settings, threads=1)
            known = self._opened(network, names, settings)
            if isinstance(known, Session):
                self._ran_on.setdefault(network, known.providers)
        self._sessions[key] = known  # the last one that was used
        return known

    def _opened(
        self, network: Network, names: Sequence[str], settings: Settings
    ) -> Session | RunFailure:
        """The session, of the model's own file where that is what is run: no copy is sent."""
        self._make_room(network, self._sizes.get(network, 0))  # before there are bytes of it
        if network.file is not None and not names:
            self._make_room(network, network.file.stat().st_size)
            known = open_session(network.file, settings, self._sizes[network])
            network.refuse_changed()
            if isinstance(known, Session):  # a refusal names the path: the bytes say the same
                return known
        model = exposed(network, names)
        self._make_room(network, len(model))
        return open_session(model, settings, network.outside_bytes)

    def _make_room(self, network: Network, size: int) -> None:
        """Close the sessions that were not used for the longest time, for one of this size."""
        self._sizes[network] = size
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
