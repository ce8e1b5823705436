"""What else fits where a model fits as it is: ways that these samples cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnxpad.diagnosis.report import Alternative, NodeFinding
from onnxpad.diagnosis.rivals import Rival
from onnxpad.diagnosis.running import Broken, Runner
from onnxpad.diagnosis.sites import telling_size
from onnxpad.moving import differs
from onnxpad.moving.labels import label_of


def untold(runner: Runner, rivals: Sequence[Rival]) -> tuple[NodeFinding, ...]:
    """Nodes of a model that fits as it is, with what fits as well.

    What reads the same at these sizes counts where a framework writes it; `rivals` read otherwise
    and give the reference on these samples.
    """
    present = (0,) * len(runner.places)
    rows = []
    for number, place in enumerate(runner.places):
        state = runner.before(number, present)
        if isinstance(state, Broken):
            continue
        sizes = runner.sizes(number, state)
        others = (*_alike(runner, number, sizes), *_by_values(runner, number, rivals))
        if others:
            before = label_of(place.chain)
            names = place.options[0].conventions
            op = place.chain.op.name
            rows.append(
                NodeFinding(place.label, op, before, before, False, names, sizes, others)  # noqa: FBT003
            )
    return tuple(rows)


def _alike(runner: Runner, number: int, sizes: tuple[int, ...]) -> Iterator[Alternative]:
    place = runner.places[number]
    mine = place.options[0].chain
    for option in runner.choices[number].alike(0, sizes):
        other = place.options[option]
        if not option or not other.conventions or not differs(mine, other.chain):
            continue
        tells = telling_size(mine, other.chain, sizes)
        if tells is not None:
            yield Alternative(label_of(other.chain), other.conventions, tells)


def _by_values(runner: Runner, number: int, rivals: Sequence[Rival]) -> Iterator[Alternative]:
    """Options that read otherwise here, alone or together with other nodes."""
    place = runner.places[number]
    alone = {r.chosen[number] for r in rivals if r.place == number}
    for option in sorted(alone):
        other = place.options[option]
        yield Alternative(label_of(other.chain), other.conventions, None)
    done = set(alone)
    for rival in rivals:
        option = rival.chosen[number]
        if rival.place is None and option and option not in done:
            done.add(option)
            other = place.options[option]
            label = f"{label_of(other.chain)} ({rival.title})"
            yield Alternative(label, other.conventions, None)
