"""Diagnoses: which nodes pad otherwise, what else would fit, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from onnxpad.diagnosis import Cause, Diagnosis, NodeFinding
from onnxpad.errors import counted, either, few
from onnxpad.inspection import with_far_pad
from onnxpad.show.document import Command, Document, Line, Section, Table
from onnxpad.show.pages.cards import Changed, changes_section
from onnxpad.show.pages.heatmaps import maps_section
from onnxpad.show.validations import tolerance_line
from onnxpad.show.wording import frameworks_text, ran_text, shape_text, window_text

_NODES_SHOWN, _LABELS_SHOWN = 8, 3


def diagnosis_document(
    found: Diagnosis, model: str = "", *, again: str = "", follow: str = ""
) -> Document:
    """The verdict and what to do next, the nodes to change, other ways that fit, and warnings.

    `again` is the command as it was typed, for a reference that holds more, `follow` what to type
    to take the plan, or what comes nearest where nothing explains the difference.
    """
    reason = found.reasons[0] if found.reasons else found.reason
    fits = any(node.changed and node.alternatives for node in found.nodes)
    ran = f": {ran_text(found.providers)}" if found.providers else ""
    tried = f"{counted(found.tried, 'way')} to pad the whole model tried in {found.seconds:.1f} s"
    return Document(
        "Diagnosis of",
        model,
        f"{'explained' if found.explained else 'not explained'}: {reason}",
        tuple(_summary(found, again, follow)),
        (
            _nodes("nodes", "Other padding", found.nodes, "fits with" if fits else "has to be"),
            _nodes("nearest", "What comes nearest", found.nearest_nodes, "comes nearest with"),
            changes_section(partial(_changes, found.nodes or found.nearest_nodes)),
            Section("others", "What else would do", tuple(_other_lines(found))),
            maps_section(found.as_it_is or found.outputs),
            Section("ran", "", (f"device {found.device}{ran}; {tried}",)),
        ),
        "fine" if found.explained else "wrong",
        "--json",
    )


def _nodes(anchor: str, title: str, nodes: Sequence[NodeFinding], verb: str) -> Section:
    headers = ("node", "op", "window", "padded", verb, "as in")
    rows = tuple(_row(node) for node in nodes if node.changed)
    return Section(anchor, title, table=Table(headers, rows, "nodes that pad otherwise"))


def _row(node: NodeFinding) -> tuple[str, ...]:
    axes = node.chains[0].axes if node.chains else ()
    kernel, strides = [axis.kernel for axis in axes], [axis.stride for axis in axes]
    window = window_text(kernel, strides, [axis.dilation for axis in axes])
    names = frameworks_text(node.conventions)
    return node.node, node.op, window, node.before, node.after, names


def _changes(nodes: Sequence[NodeFinding]) -> Iterator[Changed]:
    for node in nodes:
        if node.changed and node.chains is not None:
            before, after = node.chains
            if before.rank == after.rank and not (before.pad or after.pad):
                after = replace(after, axes=before.axes)  # at the sizes that ran
            chains = with_far_pad(before), with_far_pad(after)
            yield Changed(node.node, node.op, "padding", node.before, node.after, *chains)


def _summary(found: Diagnosis, again: str, follow: str) -> Iterator[Line]:
    """The verdict in numbers, and what to do next."""
    text = f"relative error {_number(found.before)}"
    if found.plan.entries:
        text += f", with the plan {_number(found.residual)}"
    if found.allowed is not None:
        text += f" (limit {found.allowed:.2g})"
    if found.nearest is not None:
        text += f"; with the nearest padding {_number(found.nearest_residual)}"
    yield f"{text}; {counted(found.samples, 'sample')}"
    if found.tolerance is not None:
        yield tolerance_line(found.tolerance)
    if found.explained and follow and found.plan.entries:
        yield Command(follow)
    if not found.explained and found.settles:
        yield _settling(found, again)
    if found.nearest is not None and found.nearest.entries and follow:
        yield f"next, without it: take what comes nearest: {follow}"


def _settling(found: Diagnosis, again: str) -> str:
    """What to add to the reference first, and what to type then."""
    if found.settling_atol is not None:
        typed = f": {again} --atol {found.settling_atol:g}" if again else ""
        return f"next: {found.settles}{typed}"
    left = found.difference
    # Where one node is known to differ, nothing is to be added.
    one = found.cause is Cause.NOT_PADDING and left is not None and len(left.nodes) == 1
    typed = f", then type: {again}" if again and not one else ""
    return f"next, with the framework at hand: {found.settles}{typed}"


def _other_lines(found: Diagnosis) -> Iterator[str]:
    """What the verdict rests on, other ways that fit, and nodes of which nothing is known."""
    yield from () if found.explained else found.reasons[1:]
    yield from (f"{node.node}: {node.why}" for node in found.nodes if node.why)
    alike = [node for node in found.nodes if node.alternatives]
    for node in alike:
        labels = [one.label for one in node.alternatives]
        more = [f"{len(labels) - _LABELS_SHOWN} more (--json)"] * (len(labels) > _LABELS_SHOWN)
        yield f"{node.node}: also fits {either([*labels[:_LABELS_SHOWN], *more])}{_telling(node)}"
    if same := set(found.unchanged) - {node.node for node in alike}:
        yield f"{counted(len(same), 'other node needs', 'other nodes need')} no change"
    unseen = {name for one in found.unseen for name in one.outputs}
    if found.unseen:
        names = few([one.node for one in found.unseen], _NODES_SHOWN)
        add = f"; add {_outputs(sorted(unseen))} to it" if unseen else ""
        nodes = counted(len(found.unseen), "node is", "nodes are")
        yield f"{nodes} not seen by this reference: {names}{add}"
    if others := [name for name in found.without_reference if name not in unseen]:
        yield f"not compared, for want of a reference: {_outputs(others)}"
    yield from (f"warning: {warning}" for warning in found.warnings)


def _telling(node: NodeFinding) -> str:
    """An input that tells apart the ways that fit."""
    sizes = next((one.sizes for one in node.alternatives if one.sizes), None)
    telling = [f"an input of {shape_text(sizes)}"] if sizes else []
    if node.op == "MaxPool" and any(one.hidden for one in node.alternatives):
        telling.append("inputs below the padded number at the borders")
    return f"; to tell them apart, use {', '.join(telling)}" if telling else ""


def _outputs(names: Sequence[str]) -> str:
    quoted = few([f"'{name}'" for name in names], _NODES_SHOWN)
    return f"output{'s' * bool(names[1:])} {quoted}"


def _number(value: float | None) -> str:
    return "unknown (it does not run, or has other sizes)" if value is None else f"{value:.2g}"
