"""Runs a network with padding chosen per node; what several choices share is run once."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.suspects import Choices, Sizes, Suspect, Way, in_numbers
from onnxpad.errors import InternalError, RequestError, headline
from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import cut, variant, with_fed_fill
from onnxpad.padding.chain import Chain, is_same
from onnxpad.retargeting.candidates import Candidate
from onnxpad.retargeting.plan import settings_of, with_settings
from onnxpad.sessions import RunFailure, Session, Settings, open_session

Array = NDArray[Any]
Written = Mapping[str, Any]
_FILL = "onnxpad/fill"
_ANY = 0.7310585
_MOST_BYTES = 768 * 2**20


@dataclass(frozen=True, slots=True)
class State:
    """Tensors after a stage, and what was chosen on the way: leaders and sizes by suspect."""

    tensors: Mapping[str, Array]
    leaders: tuple[Way, ...] = ()
    sizes: Mapping[int, Sizes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Broken:
    """The network does not run with these choices: at `stage`, and what was said."""

    stage: int
    reason: str


class Runner:
    """One network, one set of inputs at a time. `seen` are tensors that the caller compares.

    What is chosen for a suspect is the number of an option, or a chain that is no option (yet).
    """

    def __init__(
        self, network: Network, suspects: Sequence[Suspect], seen: Sequence[str], settings: Settings
    ) -> None:
        self.network = network
        self.suspects = list(suspects)
        self.choices = [Choices(suspect) for suspect in suspects]
        self.stages = stages(network, suspects, seen)
        self._settings = replace(settings, folder=network.folder, threads=1)
        self._sessions: dict[tuple[int, str], Session | RunFailure] = {}
        self._fed: dict[tuple[int, str], tuple[Session, np.dtype[Any]]] = {}
        self._states: OrderedDict[tuple[int, tuple[Way, ...]], State | Broken] = OrderedDict()
        self._bytes = 0
        self.feeds: Mapping[str, Array] = {}
        # Nodes of which some way could not be written: nothing is known of what it would give.
        self.refused: set[str] = set()

    def feed(self, feeds: Mapping[str, Array]) -> None:
        """Take other inputs; what was run on the former ones is forgotten."""
        self.feeds = feeds
        self._states.clear()
        self._bytes = 0

    def offer(self, number: int, candidate: Candidate) -> int:
        """The number of the option of a suspect that is written like this: a new one if need be."""
        suspect = self.suspects[number]
        for option, one in enumerate(suspect.options):
            if settings_of(one.chain) == settings_of(candidate.chain):
                return option
        self.suspects[number] = replace(suspect, options=(*suspect.options, candidate))
        self.choices[number] = Choices(self.suspects[number])
        return len(suspect.options)

    def until(self, wanted: str, chosen: Sequence[Way]) -> State | Broken:
        """Run up to the stage that makes `wanted`."""
        last = next((n for n, stage in enumerate(self.stages) if wanted in stage.makes), None)
        if last is None:
            return State(self.feeds)
        state = State(self.feeds)
        for number in range(last + 1):
            reached = self._step(number, state, chosen)
            if isinstance(reached, Broken):
                return reached
            state = reached
        return state

    def local(self, number: int, choice: int, state: State) -> Array | None:
        """The result of one suspect alone, on what `state` (the stage before it) holds."""
        stage_number = next(n for n, s in enumerate(self.stages) if s.suspect == number)
        suspect = self.suspects[number]
        sizes = self._sizes(suspect, state)
        made = self._made(stage_number, self._chain(suspect, choice, sizes), state)
        return None if isinstance(made, RunFailure) else next(iter(made.values()), None)

    def before(self, number: int, chosen: Sequence[Way]) -> State | Broken:
        """What a suspect reads, with the given choices in front of it."""
        state: State | Broken = State(self.feeds)
        for index, stage in enumerate(self.stages):
            if stage.suspect == number or isinstance(state, Broken):
                return state
            state = self._step(index, state, chosen)
        return state

    def _step(self, number: int, state: State, chosen: Sequence[Way]) -> State | Broken:
        stage = self.stages[number]
        leaders, sizes, chain, keep = state.leaders, state.sizes, None, True
        if stage.suspect is not None:
            suspect, way = self.suspects[stage.suspect], chosen[stage.suspect]
            here = self._sizes(suspect, state)
            if isinstance(way, int):
                way = self.choices[stage.suspect].leader(way, here)
            chain, keep = self._chain(suspect, way, here), isinstance(way, int)
            leaders, sizes = (*leaders, way), {**sizes, stage.suspect: here}
        key = (number, leaders)
        if key in self._states:
            self._states.move_to_end(key)
            return self._states[key]
        made = self._made(number, chain, state, keep=keep)
        result: State | Broken
        if isinstance(made, RunFailure):
            result = Broken(number, str(made))
        else:
            kept = {n: v for n, v in {**state.tensors, **made}.items() if n in stage.kept}
            result = State(kept, leaders, sizes)
            self._remember(sum(value.nbytes for value in made.values()))
        self._states[key] = result
        return result

    def sizes(self, number: int, state: State) -> Sizes:
        """Spatial sizes of what a suspect reads."""
        return self._sizes(self.suspects[number], state)

    def _remember(self, count: int) -> None:
        self._bytes += count
        while self._bytes > _MOST_BYTES and len(self._states) > len(self.stages):
            _, old = self._states.popitem(last=False)
            if isinstance(old, State):  # every tensor is counted once, where it was made
                self._bytes -= sum(v.nbytes for v in old.tensors.values()) // 2

    def _sizes(self, suspect: Suspect, state: State) -> Sizes:
        value = state.tensors.get(suspect.source)
        if value is None:
            value = self.network.constant(suspect.source)
        if value is None:
            raise InternalError(f"'{suspect.source}' is not there when '{suspect.label}' runs")
        return tuple(value.shape[suspect.chain.spatial])

    def _chain(self, suspect: Suspect, choice: Way, sizes: Sizes) -> Chain | None:
        """What to write into the node; None to leave it as it is."""
        chain = suspect.options[choice].chain if isinstance(choice, int) else choice
        if choice == 0 and not is_same(chain.padding):
            return None
        found = in_numbers(chain, sizes)
        return chain if found is None else found

    def _made(
        self, number: int, chain: Chain | None, state: State, *, keep: bool = True
    ) -> dict[str, Array] | RunFailure:
        """What a stage makes; `keep` holds its session for the next run.

        Numbers in the cells of a Pad that are not kept are fed: one session does for all.
        """
        stage = self.stages[number]
        feeds = {name: state.tensors[name] for name in stage.reads if name in state.tensors}
        settings: Written | None = None if chain is None else settings_of(chain)
        if settings is not None and not keep:
            fill, fed = _open_fill(settings)
            found = None if fill is None else self._with_fill(number, fed, feeds, fill)
            if found is not None:
                return found
        key = (number, json.dumps(settings))
        session = self._sessions.get(key)
        if session is None or (isinstance(session, Session) and session.lost):
            made = self._part(stage, settings, feeds)
            session = made if isinstance(made, RunFailure) else self._opened(made)
            if keep:
                self._sessions[key] = session
        if isinstance(session, RunFailure):
            return session
        return session.run(self._read(session, feeds))

    def _with_fill(
        self, number: int, settings: Written, feeds: Mapping[str, Array], fill: float
    ) -> dict[str, Array] | RunFailure | None:
        """What a stage makes with a fill that is fed; None where it cannot be."""
        key = (number, json.dumps(settings))
        if key not in self._fed or self._fed[key][0].lost:
            made = self._part(self.stages[number], settings, feeds)
            part = None if isinstance(made, RunFailure) else with_fed_fill(made, _FILL)
            opened = None if part is None else self._opened(part[0])
            if part is None or not isinstance(opened, Session):
                return None
            self._fed[key] = opened, part[1]
        session, kind = self._fed[key]
        return session.run({**self._read(session, feeds), _FILL: np.array(fill, kind)})

    @staticmethod
    def _read(session: Session, feeds: Mapping[str, Array]) -> dict[str, Array]:
        return {name: value for name, value in feeds.items() if name in session.inputs}

    def _part(
        self, stage: Stage, settings: Written | None, feeds: Mapping[str, Array]
    ) -> Network | RunFailure:
        """A stage as a model of its own, its node padded as `settings` say."""
        kinds = {name: value.dtype for name, value in feeds.items()}
        if settings is None:
            return cut(self.network, stage.indices, kinds, stage.makes)
        weights = self.network.nodes[stage.indices[-1]].input[1:]
        try:
            return variant(
                self.network,
                stage.indices,
                kinds,
                stage.makes,
                lambda present: with_settings(present, settings),
                {name: feeds[name].shape for name in weights if name in feeds},
            )
        except RequestError as error:
            self.refused.add(self.suspects[stage.suspect or 0].label)
            return RunFailure("open", headline(error))

    def _opened(self, part: Network) -> Session | RunFailure:
        return open_session(part.serialised(), self._settings, self.network.outside_bytes)


def _open_fill(settings: Written) -> tuple[float | None, Written]:
    """The number that a constant Pad holds, and the settings with another one in its place."""
    step = settings.get("pad_node")
    if step is None or step.get("mode") != "constant" or not isinstance(step.get("value"), float):
        return None, settings
    return step["value"], {**settings, "pad_node": {**step, "value": _ANY}}


@dataclass(frozen=True, slots=True)
class Stage:
    """Nodes that run together; `suspect` is the number of the suspect that they are, if any.

    `reads` are tensors from outside, `makes` those that later stages or the caller want; `kept`
    is everything that later stages still read.
    """

    indices: tuple[int, ...]
    suspect: int | None
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    kept: frozenset[str]


def stages(network: Network, suspects: Sequence[Suspect], wanted: Sequence[str]) -> list[Stage]:
    """The network in stages, as far as `wanted` hangs on it; every needed suspect is one stage."""
    order = needed_nodes(network, wanted)
    needed = set(order)
    by_node = {
        suspect.node: number for number, suspect in enumerate(suspects) if suspect.node in needed
    }
    hidden = _hidden_pads(network, suspects, wanted, needed)
    groups: list[tuple[list[int], int | None]] = [([], None)]
    for index in order:
        if index in by_node:
            number = by_node[index]
            groups += [(list(suspects[number].indices), number), ([], None)]
        elif index not in hidden:
            groups[-1][0].append(index)
    return _linked(network, [group for group in groups if group[0]], wanted)


def needed_suspects(network: Network, suspects: Sequence[Suspect], tensor: str) -> frozenset[int]:
    """Numbers of the suspects that a tensor hangs on."""
    nodes = set(needed_nodes(network, [tensor]))
    return frozenset(number for number, suspect in enumerate(suspects) if suspect.node in nodes)


def needed_nodes(network: Network, wanted: Iterable[str]) -> list[int]:
    """Nodes that `wanted` hangs on, each behind those that it reads from."""
    producers = network.producers
    found: list[int] = []
    done: set[int] = set()
    stack = [(producers[name], False) for name in wanted if name in producers]
    stack.sort(reverse=True)
    while stack:
        index, ready = stack.pop()
        if ready:
            found.append(index)
            continue
        if index in done:
            continue
        done.add(index)
        stack.append((index, True))
        before = {producers[name] for name in network.names_read([index]) if name in producers}
        stack.extend((other, False) for other in sorted(before - done, reverse=True))
    file = sorted(found)
    return file if _sound(network, file) else found


def _sound(network: Network, indices: Sequence[int]) -> bool:
    """Whether every node stands behind those that it reads from."""
    producers = network.producers
    return all(
        producers[name] < index
        for index in indices
        for name in network.names_read([index])
        if name in producers
    )


def _hidden_pads(
    network: Network, suspects: Sequence[Suspect], wanted: Sequence[str], needed: set[int]
) -> set[int]:
    """Pads that only the operator behind them reads."""
    hidden = set()
    for suspect in suspects:
        if suspect.pad is None or suspect.node not in needed:
            continue
        made = set(network.nodes[suspect.pad].output)
        others = needed - {suspect.node}
        if not made & set(wanted) and not made & network.names_read(others):
            hidden.add(suspect.pad)
    return hidden


def _linked(
    network: Network, groups: Sequence[tuple[list[int], int | None]], wanted: Sequence[str]
) -> list[Stage]:
    """What each group reads and makes, found from the end."""
    later = set(wanted)
    found = []
    for indices, suspect in reversed(groups):
        made = {name for index in indices for name in network.nodes[index].output if name}
        if suspect is not None and len(indices) > 1:
            made = {name for name in network.nodes[indices[-1]].output if name}
            inner = {name for index in indices for name in network.nodes[index].output}
        else:
            inner = made
        read = network.names_read(indices) - inner - network.initializers.keys()
        makes = tuple(sorted(made & later))
        kept = frozenset(later)
        later = (later - made) | read
        found.append(Stage(tuple(indices), suspect, tuple(sorted(read)), makes, kept))
    return found[::-1]
