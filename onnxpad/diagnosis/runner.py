"""Runs a network with padding chosen per node; what several choices share is run once."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.options import Sizes, Suspect, in_numbers
from onnxpad.errors import InternalError, RequestError, headline
from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import cut, variant
from onnxpad.padding.chain import Chain, is_same
from onnxpad.padding.operators import Kind
from onnxpad.retargeting.plan import settings_of, with_settings
from onnxpad.sessions import RunFailure, Session, Settings, open_session

Array = NDArray[Any]
Feeds = Mapping[str, Array]
_MOST_BYTES = 768 * 2**20


@dataclass(frozen=True, slots=True)
class State:
    """Tensors after a stage, and how they came about.

    ways: what each suspect on the way reads, by which equal states are known.
    """

    tensors: Feeds
    sample: int
    ways: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """The network does not run with these choices: at `stage`."""

    stage: int


class Stage(NamedTuple):
    """Nodes that run together; `suspect` is the number of the suspect that they are, if any.

    reads: tensors from outside.
    makes: tensors that later stages or the caller want.
    kept: everything that later stages still read.
    """

    indices: tuple[int, ...]
    suspect: int | None
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    kept: frozenset[str]


class Runner:
    """One network on one or more samples; `seen` are tensors that the caller compares."""

    def __init__(
        self, network: Network, suspects: Sequence[Suspect], seen: Sequence[str], settings: Settings
    ) -> None:
        self.network = network
        self.suspects = list(suspects)
        self.stages = _stages(network, suspects, seen)
        self.samples: list[Feeds] = []
        # Labels of nodes of which some way could not be written: nothing is known of its result.
        self.refused: set[str] = set()
        self._settings = replace(settings, folder=network.folder, threads=1)
        self._sessions: dict[tuple[int, str], Session | RunFailure] = {}
        self._states: OrderedDict[tuple[int, int, tuple[int, ...]], State | Broken] = OrderedDict()
        self._bytes = 0

    def feed(self, samples: Sequence[Feeds]) -> None:
        """Take other samples; what was run on the former ones is forgotten."""
        self.samples = list(samples)
        self._states.clear()
        self._bytes = 0

    def offer(self, number: int, chain: Chain) -> int:
        """The number of the option of a suspect that is written like this: a new one if need be."""
        options, settings = self.suspects[number].options, settings_of(chain)
        for option, one in enumerate(options):
            if settings_of(one) == settings:
                return option
        options.append(chain)
        return len(options) - 1

    def until(self, wanted: str, chosen: Sequence[int], sample: int = 0) -> State | Broken:
        """Run up to the stage that makes `wanted`."""
        last = next((n for n, stage in enumerate(self.stages) if wanted in stage.makes), -1)
        return self._run(last + 1, chosen, sample)

    def tensor(self, name: str, chosen: Sequence[int], sample: int = 0) -> Array | None:
        """A tensor with these choices; None where the network does not run."""
        state = self.until(name, chosen, sample)
        return None if isinstance(state, Broken) else state.tensors.get(name)

    def sizes(self, number: int, chosen: Sequence[int], sample: int = 0) -> Sizes | None:
        """Spatial sizes of what a suspect reads; None where the network does not run so far."""
        state = self._run(self._stage_of(number), chosen, sample)
        return None if isinstance(state, Broken) else self._sizes(self.suspects[number], state)

    def reads(self, number: int, chosen: Sequence[int]) -> tuple[Sizes, ...]:
        """Sizes of what a suspect reads in every sample in which the network runs so far."""
        found = (self.sizes(number, chosen, sample) for sample in range(len(self.samples)))
        return tuple(one for one in found if one is not None)

    def result(self, number: int, chosen: Sequence[int], sample: int = 0) -> Array | None:
        """What a suspect gives; None where the network does not run so far."""
        stage = self._stage_of(number)
        state = self._run(stage, chosen, sample)
        made = None if isinstance(state, Broken) else self._made(stage, chosen[number], state)
        return next(iter(made.values()), None) if isinstance(made, dict) else None

    def needed(self, tensor: str) -> frozenset[int]:
        """Numbers of the suspects that a tensor depends on."""
        nodes = set(needed_nodes(self.network, [tensor]))
        return frozenset(n for n, suspect in enumerate(self.suspects) if suspect.node in nodes)

    def _stage_of(self, number: int) -> int:
        return next(n for n, stage in enumerate(self.stages) if stage.suspect == number)

    def _run(self, count: int, chosen: Sequence[int], sample: int) -> State | Broken:
        state = State(self.samples[sample], sample)
        for number in range(count):
            reached = self._step(number, state, chosen)
            if isinstance(reached, Broken):
                return reached
            state = reached
        return state

    def _step(self, number: int, state: State, chosen: Sequence[int]) -> State | Broken:
        stage, ways = self.stages[number], state.ways
        way: int = 0
        if stage.suspect is not None:
            suspect = self.suspects[stage.suspect]
            way = suspect.leader(chosen[stage.suspect], self._sizes(suspect, state))
            ways = (*ways, way)
        key = (state.sample, number, ways)
        if key in self._states:
            self._states.move_to_end(key)
            return self._states[key]
        made = self._made(number, way, state)
        result: State | Broken = Broken(number)
        if not isinstance(made, RunFailure):
            kept = {n: v for n, v in {**state.tensors, **made}.items() if n in stage.kept}
            result = State(kept, state.sample, ways)
            self._remember(sum(value.nbytes for value in made.values()))
        self._states[key] = result
        return result

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

    def _made(self, number: int, way: int, state: State) -> dict[str, Array] | RunFailure:
        """What a stage makes, its suspect padded in a `way`.

        The cells of a Pad in front are put around what the operator reads, so that one session
        does for all of them.
        """
        stage = self.stages[number]
        feeds = {name: state.tensors[name] for name in stage.reads if name in state.tensors}
        settings = None
        if stage.suspect is not None:
            suspect = self.suspects[stage.suspect]
            settings = self._settings_of(stage.suspect, way, self._sizes(suspect, state))
            padded = _padded(feeds.get(suspect.source), settings)
            if padded is not None and suspect.chain.op.kind is Kind.PAD:
                return dict.fromkeys(stage.makes, padded)
            if padded is not None and settings is not None:
                feeds[suspect.source], settings = padded, {**settings, "pad_node": None}
        key = (number, json.dumps(settings))
        session = self._sessions.get(key)
        if session is None or (isinstance(session, Session) and session.lost):
            session = self._sessions[key] = self._opened(stage, settings, feeds)
        if isinstance(session, RunFailure):
            return session
        return session.run({name: feeds[name] for name in feeds if name in session.inputs})

    def _settings_of(self, number: int, way: int, sizes: Sizes) -> dict[str, Any] | None:
        """What is written into a node for a way at these sizes; None to leave it as it is.

        SAME is written as numbers all the same: runtimes leave its formula.
        """
        chain = self.suspects[number].options[way]
        if way == 0 and not is_same(chain.padding):
            return None
        return settings_of(in_numbers(chain, sizes) or chain)

    def _opened(
        self, stage: Stage, settings: Mapping[str, Any] | None, feeds: Feeds
    ) -> Session | RunFailure:
        """A stage as a model of its own, its node padded as `settings` say."""
        what = (self.network, stage.indices, feeds, stage.makes)
        if settings is None:
            part = cut(*what)
        else:
            try:
                part = variant(*what, lambda present: with_settings(present, settings))
            except RequestError as error:
                self.refused.add(self.suspects[stage.suspect or 0].label)
                return RunFailure("open", headline(error))
        return open_session(part.serialised(), self._settings, self.network.outside_bytes)


def _padded(value: Array | None, settings: Mapping[str, Any] | None) -> Array | None:
    """A tensor with the cells of a Pad around it; None where that is left to onnxruntime."""
    step = None if settings is None else settings.get("pad_node")
    if value is None or step is None or value.dtype.kind != "f" or 0 in value.shape:
        return None
    half, mode = len(step["pads"]) // 2, step["mode"]
    widths = list(zip(step["pads"][:half], step["pads"][half:], strict=True))
    if half != value.ndim or min(step["pads"]) < 0:
        return None
    if mode == "constant":
        return np.pad(value, widths, constant_values=float(step["value"] or 0.0))
    pairs = zip(widths, value.shape, strict=True)
    return None if any(max(pair) >= size for pair, size in pairs) else np.pad(value, widths, mode)


def needed_nodes(
    network: Network, wanted: Iterable[str], instead: Mapping[int, set[str]] | None = None
) -> list[int]:
    """Nodes that `wanted` depends on, each behind those that it reads from.

    `instead` are the tensors that some nodes read in place of their inputs.
    """
    producers, others = network.producers, instead or {}
    before, names = dict[int, list[int]](), list(wanted)
    while names:
        index = producers.get(names.pop())
        if index is not None and index not in before:
            read = sorted(others.get(index) or network.names_read([index]))
            before[index] = sorted(producers[name] for name in read if name in producers)
            names += read
    return list(
        TopologicalSorter({index: before[index] for index in sorted(before)}).static_order()
    )


def _stages(network: Network, suspects: Sequence[Suspect], wanted: Sequence[str]) -> list[Stage]:
    """The network in stages, as far as `wanted` depends on it; a suspect is one with its Pad."""

    def made_by(indices: Iterable[int]) -> set[str]:
        return {name for index in indices for name in network.nodes[index].output if name}

    numbers = {suspect.node: number for number, suspect in enumerate(suspects)}
    reads = {
        s.node: network.names_read(s.indices) - made_by(s.indices) | {s.source} for s in suspects
    }
    groups: list[tuple[tuple[int, ...], int | None]] = []
    between: list[int] = []
    for index in needed_nodes(network, wanted, reads):
        if index in numbers:
            number = numbers[index]
            groups += [(tuple(between), None), (suspects[number].indices, number)]
            between = []
        else:
            between.append(index)
    groups.append((tuple(between), None))
    later, stages = set(wanted), list[Stage]()
    for indices, suspect in reversed([group for group in groups if group[0]]):
        made = made_by(indices if suspect is None else indices[-1:])
        # A compound is padded in front of all its nodes, and run by its last one.
        source = set() if suspect is None else {suspects[suspect].source}
        read = network.names_read(indices) - made_by(indices) | source
        read -= network.initializers.keys()
        makes, kept = tuple(sorted(made & later)), frozenset(later)
        stages.append(Stage(indices, suspect, tuple(sorted(read)), makes, kept))
        later = (later - made) | read
    return stages[::-1]
