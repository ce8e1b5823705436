"""Diagnoses as pages: which nodes pad otherwise, drawn, and where the outputs differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import join

from onnxpad.diagnosis import Diagnosis, NodeFinding
from onnxpad.inspection import with_far_pad
from onnxpad.show.diagnoses import (
    ALONE,
    Around,
    finding_row,
    headers,
    next_line,
    other_lines,
    ran_lines,
    sized_as,
    verdict_lines,
    verdict_text,
)
from onnxpad.show.pages.changes import Changed, changes_section
from onnxpad.show.pages.page import Page, Section, Table
from onnxpad.show.validations import differing
from onnxpad.show.wording import visible


def diagnosis_page(found: Diagnosis, model: str, around: Around = ALONE) -> Page:
    """The page about one model; `around` is what the command knows beside the report."""
    state = "fine" if found.explained and not found.plan.entries else "wrong"
    nodes = found.nodes or found.nearest_nodes
    title = "Has to be padded otherwise" if found.nodes else "What comes nearest"
    rows = tuple(tuple(map(visible, finding_row(node))) for node in nodes if node.changed)
    _, *numbers = verdict_lines(found, around)
    if found.explained:
        numbers = [line for line in numbers if line != next_line(found, around)]
    lines = [*numbers, *ran_lines(found, around)]
    lines += [f"warning: {one}" for one in found.warnings]
    plan = around.plan or "plan.json"
    retarget = ["onnxpad", "retarget", model, "--plan", plan, "-o", "OUT"]
    follow = around.follow or join(retarget)
    return Page(
        "Diagnosis of",
        visible(model),
        state,
        visible(verdict_text(found)),
        tuple(visible(line) for line in lines if line),
        (visible(follow),) if found.explained and found.plan.entries else (),
        (
            Section("nodes", title, table=Table("nodes that pad otherwise", headers(found), rows)),
            changes_section(lambda: _changes(nodes)),
            Section("others", "What else would do", tuple(map(visible, other_lines(found)))),
            differing(found.as_it_is or found.outputs, ("the reference", "the model as it is")),
        ),
    )


def _changes(nodes: Iterable[NodeFinding]) -> Iterator[Changed]:
    for one in nodes:
        if one.changed and one.chains is not None:
            before, after = with_far_pad(one.chains[0]), with_far_pad(sized_as(*one.chains))
            yield Changed(one.node, one.op, "padding", one.before, one.after, before, after)
