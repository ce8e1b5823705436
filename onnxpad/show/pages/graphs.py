"""The padded part of a graph: a box for each padded node, or for a row of nodes that look alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from onnxpad.show.pages.templates import rendered

_WIDE, _HIGH, _ACROSS, _DOWN = 160, 52, 176, 74
"""Sizes of a box and distances of boxes."""
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
    """Where a box stands; `title` names its nodes."""

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
    rows = _rows(vertices, links)
    if not links or len(set(rows)) > _MOST:
        return ""
    arrows = sorted({(rows[one], rows[other]) for one, other in links if rows[one] != rows[other]})
    members: dict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        members[row].append(number)
    levels = dict.fromkeys(members, 0)
    for one, other in sorted(arrows, key=lambda arrow: arrow[1]):
        if one < other:
            levels[other] = max(levels[other], levels[one] + 1)
    across: dict[int, int] = defaultdict(int)
    boxes = {}
    for row, level in levels.items():
        nodes = [vertices[number] for number in members[row]]
        boxes[row] = _box(nodes, across[level] * _ACROSS, level * _DOWN)
        across[level] += 1
    is_long = any(boxes[other].y - boxes[one].y > _DOWN for one, other in arrows)
    return rendered(
        "graph.svg",
        boxes=list(boxes.values()),
        arrows=[_arrow(boxes[one], boxes[other]) for one, other in arrows],
        size=(_WIDE, _HIGH),
        width=max(box.x for box in boxes.values()) + _WIDE,
        height=max(box.y for box in boxes.values()) + _HIGH,
        side=90 if is_long else 8,
        title=f"{len(vertices)} padded nodes and which of them read each other",
    )


def _rows(vertices: Sequence[Vertex], links: Sequence[tuple[int, int]]) -> list[int]:
    """For each node the first of the row that it stands in: alone between its neighbours, alike."""
    read_by: dict[int, set[int]] = defaultdict(set)
    reads: dict[int, set[int]] = defaultdict(set)
    for one, other in links:
        read_by[one].add(other)
        reads[other].add(one)
    rows = list(range(len(vertices)))
    for number, vertex in enumerate(vertices):
        for before in reads[number] if len(reads[number]) == 1 else ():
            alike = vertices[before]._replace(name="") == vertex._replace(name="")
            if before < number and alike and len(read_by[before]) == 1:
                rows[number] = rows[before]
    return rows


def _box(nodes: Sequence[Vertex], x: int, y: int) -> _Box:
    first, last = nodes[0], nodes[-1]
    times = f"{len(nodes)} x " if nodes[1:] else ""
    title = f"{first.name} to {last.name}" if nodes[1:] else first.name
    name = first.name
    short = name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
    lines = f"{times}{first.lines[0]}", first.lines[1], short
    return _Box(x, y, lines, first.to, title, first.state)


def _arrow(one: _Box, other: _Box) -> str:
    """A path from the lower edge of one box to the upper edge of the other."""
    x, y, to_x, to_y = one.x + _WIDE // 2, one.y + _HIGH, other.x + _WIDE // 2, other.y - 3
    if other.y - one.y > _DOWN:  # it passes others, at their side
        side = max(x, to_x) + 112
        return f"M{x} {y}C{side} {y + 20} {side} {to_y - 20} {to_x} {to_y}"
    return f"M{x} {y}C{x} {y + 12} {to_x} {to_y - 12} {to_x} {to_y}"
