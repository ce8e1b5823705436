"""Nodes without padding that passes of the user wrote, judged as planning judges its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnxpad.graph.editing.edits import InsertNode
from onnxpad.graph.editing.session import Session
from onnxpad.graph.reading.scopes import address_of
from onnxpad.pipeline import Change
from onnxpad.planning.trials import Judge, plain_obstacles, title_of
from onnxpad.planning.verdicts import NoWay, Place, Verdict


def brought(session: Session, judge: Judge, changes: Sequence[Change]) -> Iterator[Verdict]:
    """What of the nodes that `changes` wrote, and that are still there, the target does not take.

    What they wrote with padding is judged as every padded node is.
    """
    made: dict[Place, str] = {}
    rules: dict[Place, str] = {}
    for change in changes:
        for edit in change.edits:
            if isinstance(edit, InsertNode):
                place = (edit.before.scope, edit.key)
                made[place], rules[place] = title_of(edit), change.rule
    for found in plain_obstacles(session, made, judge):
        scope = session.document.scopes[found.place[0]]
        node = next(one for one in scope.ordered() if one.key == found.place[1])
        yield Verdict(
            address_of(scope, node),
            found.op,
            found.judgement,
            NoWay((), ()),
            rules[found.place],
        )
