"""The padded part of a graph: which padded nodes read each other, and how that is drawn."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from onnxpad.inspection import inspect
from onnxpad.model.reading import padded_graph as reading
from tests.models.text import text_model

pytest.importorskip("jinja2", reason="the extra html is not installed")

from onnxpad.show.pages.graphs import Vertex, padded_graph

BRANCHES = """
    [a] p = Conv <pads=[1, 1]> (x, w)
    r = Relu (p)
    [b] q = Conv <pads=[1, 1]> (r, w)
    [c] s = Conv <pads=[2, 0]> (r, w)
    t = Add (q, s)
    u = Add (t, r)
    [d] y = MaxPool <kernel_shape=[3], pads=[1, 1]> (u)
"""
WEIGHT = "float[1,1,3] w = {1, 2, 3}"


def links(nodes: str) -> set[tuple[str, str]]:
    found = inspect(text_model(nodes, constants=WEIGHT))
    return {(found.nodes[one].node, found.nodes[other].node) for one, other in found.links}


def test_a_node_reads_the_nearest_padded_nodes() -> None:
    wanted = {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")}
    assert links(BRANCHES) == wanted


def test_of_a_graph_that_is_too_large_nothing_is_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST", 3)
    assert links(BRANCHES) == set()


def vertex(name: str, op: str = "Conv") -> Vertex:
    return Vertex((op, "1,1 1,1"), "drawing-1", name, "fine")


def boxes(svg: str) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314 - our own
    return [one.findtext("text", "") for one in root.iter("g")]


def test_a_row_of_nodes_that_look_alike_is_one_box() -> None:
    row = [vertex(name) for name in "abc"] + [vertex("d", "MaxPool")]
    svg = padded_graph(row, [(0, 1), (1, 2), (2, 3)])
    assert boxes(svg) == ["3 x Conv", "MaxPool"]
    assert "<title>a to c</title>" in svg
    assert svg.count('class="arrow"') == 1


def test_branches_stand_beside_each_other() -> None:
    nodes = [vertex("a"), vertex("b"), vertex("c", "MaxPool"), vertex("d")]
    svg = padded_graph(nodes, [(0, 1), (0, 2), (1, 3), (2, 3)])
    places = re.findall(r'class="fine" transform="translate\((\d+) (\d+)\)"', svg)
    assert [(int(x) > 0, int(y) // 74) for x, y in places] == [
        (False, 0),
        (False, 1),
        (True, 1),
        (False, 2),
    ]
    assert svg.count('class="arrow"') == 4


def test_names_are_escaped_and_without_links_nothing_is_drawn() -> None:
    bad = "</title><script>alert(1)</script>"
    svg = padded_graph([vertex(bad), vertex("b", "MaxPool")], [(0, 1)])
    assert "<script" not in svg
    assert bad in [title.text for title in ET.fromstring(svg).iter("title")]  # noqa: S314
    assert padded_graph([vertex("a"), vertex("b")], []) == ""


def test_boxes_say_the_ends_of_long_names() -> None:
    long = "backbone/stage1/block12/conv"
    svg = padded_graph([vertex("fine"), vertex(long, "MaxPool")], [(0, 1)])
    assert ">…" + long[-19:] + "</text>" in svg
    assert ">fine</text>" in svg
