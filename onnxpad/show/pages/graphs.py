"""The padded part of a graph: a box for each padded node, or for a row of nodes that look alike."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from onnxpad.show.pages.templates import rendered

_WIDE, _HIGH, _ACROSS, _DOWN, _NAMED = 160, 38, 176, 60, 14
"""Sizes of a box and distances of boxes; so much higher where names stand in them."""
_LONGEST = 20
"""Letters of a name that a box can hold; the end of a longer one."""
_MOST = 1500
"""Boxes that are drawn; of more a picture says nothing."""


class Vertex(NamedTuple):
    """A padded node: what stands in its box, where it is drawn on the page, its name, its state."""

    lines: tuple[str, str]
    to: str
    name: str
    state: str


class _Box(NamedTuple):
    """Where a box stands; `title` names its nodes. Of those that go wrong the name is a line."""

    x: int
    y: int
    lines: tuple[str, ...]
    to: str
    title: str
    state: str


def padded_graph(vertices: Sequence[Vertex], links: Sequence[tuple[int, int]]) -> str:
    """SVG with an arrow from each padded node to those that read it next; '' without arrows.

    `links` are pairs of places in `vertices`. A row of nodes that look alike is one box.
    """
    known = [(one, other) for one, other in links if one != other]
    rows = _rows(vertices, known)
    if not known or len(set(rows)) > _MOST:
        return ""
    arrows = sorted({(rows[one], rows[other]) for one, other in known if rows[one] != rows[other]})
    members: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        members.setdefault(row, []).append(number)
    levels = _levels(sorted(members), arrows)
    more = _NAMED * any(vertex.state == "wrong" for vertex in vertices)
    boxes = _placed(vertices, members, levels, _DOWN + more)
    lines = [_arrow(boxes[one], boxes[other], more) for one, other in arrows]
    return rendered(
        "graph.svg",
        boxes=list(boxes.values()),
        arrows=lines,
        size=(_WIDE, _HIGH + more),
        width=max(box.x for box in boxes.values()) + _WIDE,
        height=max(box.y for box in boxes.values()) + _HIGH + more,
        side=90 if any(_is_long(boxes[one], boxes[other], more) for one, other in arrows) else 8,
        title=f"{len(vertices)} padded nodes and which of them read each other",
    )


def _rows(vertices: Sequence[Vertex], links: Sequence[tuple[int, int]]) -> list[int]:
    """For each node the first of the row that it stands in: alone between its neighbours, alike."""
    read_by: dict[int, set[int]] = {}
    reads: dict[int, set[int]] = {}
    for one, other in links:
        read_by.setdefault(one, set()).add(other)
        reads.setdefault(other, set()).add(one)
    rows = list(range(len(vertices)))
    for number, vertex in enumerate(vertices):
        front = reads.get(number, set())
        if len(front) != 1:
            continue
        (before,) = front
        alike = vertices[before]._replace(name="") == vertex._replace(name="")
        if before < number and alike and len(read_by[before]) == 1:
            rows[number] = rows[before]
    return rows


def _levels(numbers: Sequence[int], arrows: Sequence[tuple[int, int]]) -> dict[int, int]:
    """How far down each box stands: below all that it reads."""
    levels = dict.fromkeys(numbers, 0)
    for one, other in sorted(arrows, key=lambda arrow: arrow[1]):
        if one < other:
            levels[other] = max(levels[other], levels[one] + 1)
    return levels


def _placed(
    vertices: Sequence[Vertex],
    members: Mapping[int, Sequence[int]],
    levels: Mapping[int, int],
    down: int,
) -> dict[int, _Box]:
    across: dict[int, int] = {}
    boxes = {}
    for row, level in levels.items():
        column = across.get(level, 0)
        across[level] = column + 1
        first, names = vertices[row], [vertices[number].name for number in members[row]]
        times = f"{len(names)} x " if len(names) > 1 else ""
        name = [_short(names[0])] if first.state == "wrong" else []
        lines = (f"{times}{first.lines[0]}", first.lines[1], *name)
        title = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        boxes[row] = _Box(column * _ACROSS, level * down, lines, first.to, title, first.state)
    return boxes


def _short(name: str) -> str:
    """The end of a long name, from where a part of it begins."""
    if len(name) <= _LONGEST:
        return name
    end = name[1 - _LONGEST :]
    if name[-_LONGEST] in "/.:_":
        return f"…{end}"
    begins = re.search("/", end[:-1]) or re.search("[.:_]", end[:-1])
    return f"…{end[begins.start() :] if begins else end}"


def _is_long(one: _Box, other: _Box, more: int) -> bool:
    """Whether an arrow passes others, at their side."""
    return other.y - one.y > _DOWN + more


def _arrow(one: _Box, other: _Box, more: int) -> str:
    """A path from the lower edge of one box to the upper edge of the other."""
    x, y, to_x, to_y = one.x + _WIDE // 2, one.y + _HIGH + more, other.x + _WIDE // 2, other.y - 3
    if _is_long(one, other, more):
        side = max(x, to_x) + 112
        return f"M{x} {y}C{side} {y + 20} {side} {to_y - 20} {to_x} {to_y}"
    return f"M{x} {y}C{x} {y + 12} {to_x} {to_y - 12} {to_x} {to_y}"
