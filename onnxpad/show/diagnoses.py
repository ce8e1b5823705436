"""Diagnoses: which nodes pad otherwise, what else would fit, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from onnxpad.diagnosis import Alternative, Cause, Diagnosis, NodeFinding
from onnxpad.errors import counted, few
from onnxpad.frameworks.fits import ANY, fits
from onnxpad.inspection import with_far_pad
from onnxpad.padding.chain import Chain
from onnxpad.padding.effective_pads import axes_behind, axes_in_front
from onnxpad.show.document import Command, Document, Line, Section, Table
from onnxpad.show.pages.changes import Changed, changes_section
from onnxpad.show.pages.drawings import pads_in_front
from onnxpad.show.validations import differing, tolerance_line
from onnxpad.show.wording import frameworks_text, shape_text, window_text

_NODE = ("node", "op", "window", "padded")
_HEADERS = (*_NODE, "has to be", "as in")
_FITS = (*_NODE, "fits with", "as in")
_NEAREST = (*_NODE, "comes nearest with", "as in")
_CONVENTIONS_SHOWN = 3
_ALTERNATIVES_SHOWN = 8
_UNSEEN_SHOWN = 8

_BY_FILL = "inputs below the padded number at the borders would tell them apart"


@dataclass(frozen=True, slots=True)
class Around:
    """What the command knows beside the report.

    `plan` is where the plan was written, `wrote` what is said of that, or of why none was. `again`
    is the command as it was typed, for a reference that holds more, `follow` what to type where a
    plan explains it, `nearest` where what comes nearest is to be taken.
    """

    plan: str | None = None
    wrote: str = ""
    again: str = ""
    follow: str = ""
    nearest: str = ""


ALONE = Around()


def diagnosis_document(found: Diagnosis, model: str = "", around: Around = ALONE) -> Document:
    """The verdict and what to do next, the nodes to change, other ways that fit, and warnings."""
    nodes = found.nodes or found.nearest_nodes
    compared = ("the reference", "the model as it is")
    return Document(
        "Diagnosis of",
        model,
        _verdict_text(found),
        tuple(_summary(found, around)),
        (
            _nodes("nodes", "Has to be padded otherwise", found.nodes, _headers(found)),
            _nodes("nearest", "What comes nearest", found.nearest_nodes, _NEAREST),
            changes_section(partial(_changes, nodes)),
            Section("others", "What else would do", tuple(_other_lines(found))),
            Section("warnings", "", tuple(f"warning: {warning}" for warning in found.warnings)),
            Section("ran", "", tuple(_ran_lines(found, around))),
            differing(found.as_it_is or found.outputs, compared),
        ),
        "fine" if found.explained and not found.plan.entries else "wrong",
    )


def _headers(found: Diagnosis) -> tuple[str, ...]:
    """'has to be' only where nothing else fits."""
    return _FITS if any(node.changed and node.alternatives for node in found.nodes) else _HEADERS


def _nodes(
    anchor: str, title: str, nodes: Sequence[NodeFinding], headers: tuple[str, ...]
) -> Section:
    rows = tuple(finding_row(node) for node in nodes if node.changed)
    return Section(anchor, title, table=Table(headers, rows, "nodes that pad otherwise", ("node",)))


def _changes(nodes: Sequence[NodeFinding]) -> Iterator[Changed]:
    for node in nodes:
        if node.changed and node.chains is not None:
            before, after = with_far_pad(node.chains[0]), with_far_pad(_sized_as(*node.chains))
            yield Changed(node.node, node.op, "padding", node.before, node.after, before, after)


def finding_row(node: NodeFinding) -> tuple[str, ...]:
    """The row of a node."""
    axes = node.chains[0].axes if node.chains else ()
    window = window_text(
        [axis.kernel for axis in axes],
        [axis.stride for axis in axes],
        [axis.dilation for axis in axes],
    )
    return node.node, node.op, window, node.before, node.after, frameworks_text(_who_writes(node))


def _who_writes(node: NodeFinding) -> tuple[str, ...]:
    """Who can write the padding that it has to have, as `inspect` says of the model that has it.

    In front are those whose own rule gives it, also where numbers stand for it at one size.
    """
    found = fits(with_far_pad(_sized_as(*node.chains))) if node.chains else ()
    return found if found == (ANY,) else tuple(dict.fromkeys((*node.conventions, *found)))


def _sized_as(before: Chain, after: Chain) -> Chain:
    """The second chain at the sizes of the first, which ran."""
    if before.rank != after.rank:
        return after
    axes = before.axes if before.pad is None else axes_in_front(before, pads_in_front(before))
    sized = replace(after, axes=axes)
    return (
        sized
        if after.pad is None
        else replace(after, axes=axes_behind(sized, pads_in_front(after)))
    )


def _other_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """What else would fit, how many nodes need no change, and what nothing is known of.

    Where it is not explained, first what the verdict rests on.
    """
    yield from () if diagnosis.explained else diagnosis.reasons[1:]
    rows = [(node, other) for node in diagnosis.nodes for other in node.alternatives]
    for node in diagnosis.nodes:
        if node.why:
            yield f"{node.node}: {node.why}"
    planned = bool(diagnosis.plan.entries)
    apart = [
        (node, other) for node, other in rows if not node.changed and (other.hidden or not planned)
    ]
    if apart:
        ways = counted(len(apart), "other way", "other ways")
        nodes = few([*dict.fromkeys(n.node for n, _ in apart)], _CONVENTIONS_SHOWN)
        telling = any(other.sizes for _, other in apart)
        more = ", and what would tell them apart" if telling else ""
        if {_telling(node, other) for node, other in apart} == {_BY_FILL}:
            more += f"; {_BY_FILL}"
        yield f"{ways} to pad {nodes} would give the same here: --json has them{more}"
    rows = [one for one in rows if one not in apart]
    for node, other in rows[:_ALTERNATIVES_SHOWN]:
        yield f"also fits: {node.node} with {other.label}; {_telling(node, other)}"
    if rows[_ALTERNATIVES_SHOWN:]:
        yield f"and {len(rows) - _ALTERNATIVES_SHOWN} more, all in --json"
    if same := set(diagnosis.unchanged) - {node.node for node, _ in apart}:
        count = len(same)
        noun = "node needs" if count == 1 else "nodes need"
        yield f"{count} other {noun} no change"
    yield from _unseen_lines(diagnosis)


def _telling(node: NodeFinding, other: Alternative) -> str:
    """What would tell another way from the one that was found."""
    if other.sizes:
        return f"an input of {shape_text(other.sizes)} would tell them apart"
    if other.nearly:
        return "the difference is below the tolerance"
    # A maximum hides what the padded cells hold; labels have modes in brackets.
    mode = "(" in other.label.removesuffix(" (as it is)")
    if node.op == "MaxPool" and other.hidden and not mode:
        return _BY_FILL
    return "no size was found that tells them apart"


def _unseen_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Nodes that the reference does not depend on, and outputs that it has not."""
    wanted = {name for one in diagnosis.unseen for name in one.outputs}
    if diagnosis.unseen:
        count = len(diagnosis.unseen)
        verb = "is" if count == 1 else "are"
        names = few([one.node for one in diagnosis.unseen], _UNSEEN_SHOWN)
        more = f"; add {_outputs(sorted(wanted))} to it" if wanted else ""
        yield f"{counted(count, 'node')} {verb} not seen by this reference: {names}{more}"
    if others := [name for name in diagnosis.without_reference if name not in wanted]:
        has, verb = ("has", "is") if len(others) == 1 else ("have", "are")
        yield f"{_outputs(others)} {has} no reference and {verb} not compared"


def _outputs(names: Sequence[str]) -> str:
    noun = "output" if len(names) == 1 else "outputs"
    quoted = [f"'{name}'" for name in names]
    return f"{noun} {few(quoted, _UNSEEN_SHOWN)}"


def _verdict_text(diagnosis: Diagnosis) -> str:
    """Whether it is explained, and by what."""
    said = diagnosis.reasons[0] if diagnosis.reasons else diagnosis.reason
    return f"{'explained' if diagnosis.explained else 'not explained'}: {said}"


def _summary(found: Diagnosis, around: Around) -> Iterator[Line]:
    """The verdict in numbers, and what to do next."""
    yield _numbers(found)
    if found.tolerance is not None:
        yield tolerance_line(found.tolerance)
    if found.explained:
        yield Command(around.follow) if around.follow and found.plan.entries else ""
    else:
        yield _settling(found, around)
    if found.nearest is not None and found.nearest.entries and around.nearest:
        yield f"next, without it: take what comes nearest: {around.nearest}"


def _settling(found: Diagnosis, around: Around) -> str:
    """What to add to the reference first, and what to type then."""
    if not found.settles:
        return ""
    allowing, typed = found.settling_atol, f", then type: {around.again}"
    left = found.difference
    if found.cause is Cause.NOT_PADDING and left is not None and len(left.nodes) == 1:
        typed = ""  # the node is known, and nothing is to be added
    if allowing is not None:
        typed = f": {around.again} --atol {allowing:g}"
    first = "next" if allowing is not None else "next, with the framework at hand"
    return f"{first}: {found.settles}{typed if around.again else ''}"


def _ran_lines(diagnosis: Diagnosis, around: Around) -> Iterator[str]:
    """What ran where, and the file of the plan."""
    ran = "; ".join(f"{role} on {', '.join(n)}" for role, n in diagnosis.providers.items())
    tried = f"{counted(diagnosis.tried, 'way', 'ways')} to pad the whole model tried"
    device = f"device {diagnosis.device}{f': {ran}' if ran else ''}"
    yield f"{device}; {tried} in {diagnosis.seconds:.1f} s"
    yield around.wrote


def _numbers(diagnosis: Diagnosis) -> str:
    """How far the model is from the reference, as it is and with the plan."""
    text = f"relative error {_number(diagnosis.before)}"
    if diagnosis.plan.entries:
        text += f", with the plan {_number(diagnosis.residual)}"
    if diagnosis.allowed is not None:
        text += f" (limit {diagnosis.allowed:.2g})"
    if diagnosis.nearest is not None:
        text += f"; with the nearest padding {_number(diagnosis.nearest_residual)}"
    return f"{text}; {counted(diagnosis.samples, 'sample')}"


def _number(value: float | None) -> str:
    return "unknown (it does not run, or has other sizes)" if value is None else f"{value:.2g}"
