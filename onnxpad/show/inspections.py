"""Inspections as tables and notes."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from onnxpad.errors import counted, either, few
from onnxpad.geometry.size_fact import NOTHING_KNOWN, SizeFact
from onnxpad.inspection import FOLLOWED, Inspection, PaddedNode
from onnxpad.padding.effective_pads import may_be_written, told_in
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.traps import Trap, helping, of_another
from onnxpad.show.document import lines_text
from onnxpad.show.edited import unknown_operator_notes
from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import (
    assumed_text,
    frameworks_text,
    given_text,
    input_text,
    limits_text,
    note,
    open_in_file_text,
    pads_text,
    paragraph,
    recorded_text,
    shape_text,
    visible,
    window_text,
)

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.report import NodeVerdict

HEADERS = ("node", "operator", "input", "window", "pads", "written as", "fits")
_NAMES, _WHOLE = ("node", "input"), ("operator", "pads")
_CALLS_SHOWN = 2
_CHOICE = "--ambiguous auto_pad"
T = TypeVar("T")
_NAMES_SHOWN = 3
_AUTO_PADS = ("VALID", "SAME_UPPER", "SAME_LOWER")
# Traps that say why the pads are not known.
_SAY_WHY = frozenset({"computed-pads", "overridable-pads", "optimised-only"})


def inspection_text(
    inspection: Inspection,
    terminal: Terminal | None = None,
    *,
    model: str = "MODEL",
    everything: bool = False,
    each: bool = False,
) -> str:
    """A summary, what targets do, the padded nodes, and what is not known.

    Nodes that can pad and write no padding are left out of the table, unless `everything` is asked
    for; findings that are alike are one row or line, unless `each` is. `model` stands in commands.
    """
    nodes = [node for node in inspection.nodes if everything or is_worth_a_row(node)]
    unknown = [node for node in inspection.nodes if _needs_reason(node)]
    traps, hidden = list(_traps(inspection, each=each)), len(inspection.nodes) - len(nodes)
    told, verdicts = _verdicts(inspection, terminal, everything=everything, each=each)
    head = [
        *told,
        about_text(inspection),
        counts_text(inspection, hidden),
        lines_text(unknown_operator_notes(inspection.model.unknown_operators)),
        *([] if inspection.targets else traps),
    ]
    parts = [
        paragraph([*head, *next_lines(inspection, model)]),
        verdicts,
        _table(nodes, terminal, each=each),
        paragraph(traps if inspection.targets else []),
        paragraph(_unknown(group) for group in _alike(unknown, _why_unknown, each=each)),
        paragraph(_behind_unknown(inspection, each=each)),
        paragraph(_placement(inspection)),
        paragraph(limits_text(inspection.limits_met)),
        assumed_text(inspection.assumed),
        recorded_text(inspection.recorded),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdicts(
    inspection: Inspection, terminal: Terminal | None, *, everything: bool, each: bool
) -> tuple[list[str], str]:
    """A line on each target, and what they do with the nodes."""
    if not inspection.targets:
        return [], ""
    from onnxpad.show.verdicts import headlines, not_judged_text, verdicts_text

    found = inspection.targets
    table_of = verdicts_text(found, inspection.openings, terminal, everything=everything, each=each)
    notes = [note("note", text) for text in inspection.unmeasured.values()]
    notes += [visible(one.note) for one in inspection.installed.values()]
    told = [*headlines(found, inspection.ran), open_in_file_text(inspection.assumed), *notes]
    return [*told, visible(not_judged_text(inspection.not_judged))], table_of


def _alike(nodes: Iterable[T], key: Callable[[T], object], *, each: bool) -> list[list[T]]:
    """The nodes in groups of one key, in the order of the first of each; alone with `each`."""
    groups: dict[object, list[T]] = {}
    for number, node in enumerate(nodes):
        groups.setdefault(number if each else key(node), []).append(node)
    return list(groups.values())


def is_worth_a_row(node: PaddedNode) -> bool:
    """Whether there is more to say of it than that it can pad."""
    return bool(node.forms or node.traps or node.pads is None or any(node.pads))


def _needs_reason(node: PaddedNode) -> bool:
    """Whether the pads are not known, and no trap says the same."""
    told = any(trap.code in _SAY_WHY for trap in node.traps)
    return node.pads is None and bool(node.hints or not told)


def _table(nodes: Sequence[PaddedNode], terminal: Terminal | None, *, each: bool) -> str:
    """The nodes, in a narrow terminal without who else pads alike."""
    rows = [HEADERS, *_rows(nodes, each=each)]
    if terminal and terminal.width < _ROOM_FOR_FITS:
        rows = [row[:-1] for row in rows]
    return table(rows[0], rows[1:], terminal, names=_NAMES, whole=_WHOLE)


_ROOM_FOR_FITS = 100


def _rows(nodes: Iterable[PaddedNode], *, each: bool) -> list[tuple[str, ...]]:
    groups = _alike(
        [(name_text(node), *node_cells(node)) for node in nodes], lambda row: row[1:], each=each
    )
    return [(few([row[0] for row in rows], 1), *rows[0][1:]) for rows in groups]


def node_cells(node: PaddedNode) -> tuple[str, ...]:
    """What stands in its row behind its name."""
    return (
        node.op,
        shape_text(node.input_shape),
        window_text(node.kernel, node.strides, node.dilations),
        pads_text(node.pads),
        _written(node),
        "" if "mode" in node.written else frameworks_text(node.conventions),
    )


def name_text(node: PaddedNode) -> str:
    """Its address, and who calls the function that it stands in."""
    if not node.calls:
        return node.node
    return f"{node.node} (called by {few(node.calls, _CALLS_SHOWN)})"


def _written(node: PaddedNode) -> str:
    if mode := node.written.get("mode"):
        value = node.written.get("value", "")
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        words = [
            f"{mode} {shown}".rstrip(),
            *(form for form in node.forms if form not in (mode, "pad-node")),
        ]
    else:
        words = [_auto_pad(node) for form in node.forms if form == "auto_pad"]
        words += [form for form in node.forms if form != "auto_pad"]
    if not words and node.pads is None:
        return "pads" if "pads" in node.written else "not known"
    return ", ".join(words) or "no padding"


def _auto_pad(node: PaddedNode) -> str:
    value = str(node.written.get("auto_pad", "auto_pad"))
    return value if value in _AUTO_PADS or value.startswith("@") else f"{value} (invalid)"


def _why_unknown(node: PaddedNode) -> object:
    return node.op, node.reason, node.hints


def _unknown(nodes: Sequence[PaddedNode]) -> str:
    node = nodes[0]
    where = few([f"'{one.node}'" for one in nodes], 1)
    read = input_text(node.input, node.input_shape, node.kernel, node.strides)
    return note(f"unknown: {node.op} {where}", node.reason, read=read, hints=node.hints)


def _behind_unknown(inspection: Inspection, *, each: bool) -> Iterator[str]:
    """Operators whose own pads are known, and not what a Pad in front of them adds."""
    behind = [
        node
        for node, chain in zip(inspection.nodes, inspection.chains, strict=False)
        if node.pads is not None and chain.pad is not None and chain.pad.unclear
    ]
    for group in _alike(behind, lambda node: node.op, each=each):
        where = few([f"'{one.node}'" for one in group], 1)
        reason = "what the Pad in front of it adds is not known; what settles the Pad settles it"
        yield note(f"unknown: {group[0].op} {where}", reason)


def _traps(inspection: Inspection, *, each: bool) -> Iterator[str]:
    """A line for each kind of trap and operator; the sentence is that of the first node.

    Nodes whose pads are not known are apart: sentences say whether they are.
    """
    found = [(node, trap) for node in inspection.nodes for trap in node.traps]
    for group in _alike(found, _kind_of_trap, each=each):
        node, trap = group[0]
        where = few([f"'{one.node}'" for one, _ in group], 1)
        yield note(f"trap: {trap.code}, {node.op} {where}", trap.sentence)


def _kind_of_trap(found: tuple[PaddedNode, Trap]) -> object:
    node, trap = found
    return trap.code, node.op, node.pads is None


def _placement(inspection: Inspection) -> Iterator[str]:
    gone = inspection.off_device
    for label, provider in gone.items():
        yield note(f"leaves the GPU: '{label}'", f"onnxruntime runs it with {provider}")
    if inspection.device:
        stay = len(inspection.placement) - len(gone)
        where = _DEVICES[inspection.device]
        nodes = _that_can_pad(len(inspection.placement))
        yield f"{stay} of {nodes} on the {where}"


_DEVICES = {"cpu": "CPU", "cuda": "GPU"}


def _that_can_pad(number: int) -> str:
    return counted(number, "operator that can pad", "operators that can pad")


_INPUTS = ("input", "inputs")


def about_text(inspection: Inspection) -> str:
    """What the model is."""
    facts = inspection.model
    inputs = ", ".join(f"'{name}' {shape_text(sizes)}" for name, sizes in facts.inputs.items())
    parts = [facts.producer or "no producer named", f"opset {facts.opset}" if facts.opset else ""]
    parts += [
        counted(facts.operators, "node"),
        f"{_INPUTS[len(facts.inputs) > 1]} {inputs}" if inputs else "no input",
    ]
    return visible(", ".join(part for part in parts if part))


def traps_texts(inspection: Inspection, shown: int = 0) -> list[str]:
    """'1 trap' and '2 traps of onnxruntime': those of runtimes not asked about by their name.

    Of each, as many codes as are to be `shown`.
    """
    found: dict[str, Counter[str]] = {}
    for code in (one.code for node in inspection.nodes for one in node.traps):
        found.setdefault(of_another(code, inspection.targets), Counter())[code] += 1
    texts = []
    for runtime, codes in sorted(found.items()):
        text = counted(codes.total(), "trap") + (f" of {runtime}" if runtime else "")
        named = few([code for code, _ in codes.most_common()], shown) if shown else ""
        texts.append(f"{text} ({named})" if named else text)
    return texts


def counts_text(inspection: Inspection, hidden: int) -> str:
    """How it pads."""
    counts = inspection.summary
    if not counts["nodes"]:
        return "no operator that can pad"
    do = "does" if counts["padding"] == 1 else "do"
    behind = sum(
        "pad-node" in node.forms and node.pads is not None and not any(node.pads)
        for node in inspection.nodes
        if "mode" not in node.written
    )
    rest = counts["nodes"] - counts["padding"] - counts["unknown"] - behind - hidden
    text = ", ".join(
        [
            f"{counted(counts['nodes'], 'operator')} can pad, {counts['padding']} {do}",
            *([f"{behind} more behind a Pad"] if behind else []),
            *([f"{counted(rest, 'adds', 'add')} no cell"] if rest > 0 else []),
            f"{counts['forms']['auto_pad']} with auto_pad",
            f"{counts['asymmetric']} asymmetric",
            *(traps_texts(inspection) or ["0 traps"]),
        ]
    )
    if counts["unknown"]:
        text += f"; the pads of {counts['unknown']} are not known"
    if hidden:
        write = "writes" if hidden == 1 else "write"
        text += f"; {hidden} that {write} no padding not shown (--all)"
    return text


def next_lines(inspection: Inspection, model: str) -> Iterator[str]:
    """The command that a reader most likely wants, and who explains the rest."""
    traps = [trap for node in inspection.nodes for trap in node.traps]
    failing = any(one.judgement.answer.fails for v in inspection.targets.values() for one in v)
    options = _for_a_target(inspection) if inspection.targets else None
    asked = [f"--target {asked_as(name)}" for name in inspection.targets]
    contradicting = any(_CHOICE in node.hints for node in inspection.nodes)
    before, behind = "next", ""
    if contradicting and len(asked) <= FOLLOWED:
        options = [*asked, given_text(inspection.assumed), _CHOICE]
        behind = ", or --ambiguous pads: whichever the model was trained with"
    elif options is None and not failing and asked and open_in_file_text(inspection.assumed):
        options = [*asked, given_text(inspection.assumed)]
    elif options is None and not failing:
        options = _for_traps(inspection)
        before = _nothing_for(inspection, options or []) or before
    if options is not None:
        follows = f"--ambiguous {inspection.ambiguous}" if inspection.ambiguous else ""
        words = ["onnxpad rewrite", _typed(model), *options, follows, "-o OUT"]
        yield visible(f"{before}: {' '.join(filter(None, words))}{behind}")
    yield from _no_rewrite(inspection, model)
    if inspection.nodes and not traps and not failing:
        yield f"if its numbers are wrong: onnxpad diagnose {_typed(model)} --data REF.npz"
    if traps:
        yield "'onnxpad explain NAME' says more about a trap, and which passes help"


def _nothing_for(inspection: Inspection, options: Sequence[str]) -> str:
    """'nothing to do for opencv; for others' where the targets take all, and traps are told.

    '' where the options are about another release of one of them.
    """
    asked = inspection.targets
    verdicts = [one.judgement.answer for found in asked.values() for one in found]
    if not verdicts or any(answer is not Answer.TAKES for answer in verdicts):
        return ""
    names = {name.partition("@")[0] for name in asked}
    others = [one.removeprefix("--target ") for one in options if one.startswith("--target ")]
    typed = set(map(asked_as, asked))
    further = [name for name in others if name not in typed]
    if any(name.partition("@")[0] in names for name in further):
        return ""
    which = f"{' and '.join(further)} as well" if further else "other runtimes"
    return f"nothing to do for {' and '.join(asked)}; for {which}"


def _for_traps(inspection: Inspection) -> list[str] | None:
    """What to say to `rewrite` about traps, for the targets that take all; None where no need is.

    Without traps and targets it is to write auto_pad as pads.
    """
    asked = inspection.targets
    nodes = [one for one in inspection.nodes if may_be_written(one.pads, one.hints)]
    traps = [trap for node in nodes for trap in node.traps]
    told = [name for trap in traps if (name := helping(trap.code, trap.passes)) not in ("", *asked)]
    passes = dict.fromkeys(trap.passes[0] for trap in traps if trap.passes)
    if told and len(asked) <= FOLLOWED:
        return [f"--target {asked_as(name)}" for name in (*asked, told[0])] + [
            given_text(inspection.assumed)
        ]
    idle = asked or not (inspection.ambiguous or any("auto_pad" in node.forms for node in nodes))
    if passes or not idle:
        facts = given_text({**inspection.assumed, **_facts_for(inspection)})
        return [*(f"--pass {name}" for name in passes), facts]
    return None


def _typed(model: str) -> str:
    return visible(shlex.quote(model))


def _facts_for(inspection: Inspection) -> dict[str, int | str]:
    """Facts without which a pass has nothing to do at some nodes: what makes their pads known.

    Numbers only where a trap is to be mended: divisors leave the sizes open.
    """
    numbers: dict[str, int] = {}
    rests: dict[str, SizeFact] = {}
    trapped = [node for node in inspection.nodes if any(trap.passes for trap in node.traps)]
    for node in trapped or inspection.nodes:
        hint = node.hints[-1] if node.pads is None and node.hints else ""
        for name, fact in told_in(hint).items():
            if fact.number is None:
                rests[name] = rests.get(name, fact).and_also(fact) or fact
            elif trapped:
                numbers[name] = fact.number
    said = {name: rests.get(name, NOTHING_KNOWN).near(size) for name, size in numbers.items()}
    return {name: fact.told for name, fact in rests.items()} | said


def _for_a_target(inspection: Inspection) -> list[str] | None:
    """What to say to `rewrite` for the targets that it was tried for; None where none is helped."""
    found = inspection.following
    if found is None:
        return None
    device = ["--require-device"] if found.require_device else []
    typed = [f"--target {asked_as(name)}" for name in found.targets]
    return [*typed, inspection.live, given_text(found.dims), *device]


def _no_rewrite(inspection: Inspection, model: str) -> Iterator[str]:
    """For which targets no rewrite was found that writes the model, and for which nodes' sake.

    Where there is a way for others, the command that writes those.
    """
    if inspection.following is not None or not inspection.targets:
        return
    from onnxpad.rewriting.for_target.report import NoWay, PassPlan
    from onnxpad.show.verdicts import are_many

    if are_many(inspection.targets):
        return
    for name, found in inspection.targets.items():
        stuck = [one for one in found if one.judgement.answer.fails and isinstance(one.way, NoWay)]
        left = inspection.openings[name].left
        alike: dict[str, list[NodeVerdict]] = {}
        for one in [one for one in stuck if one.node in left] or stuck:
            alike.setdefault(left.get(one.node, one.judgement.reason), []).append(one)
        if alike:
            why, nodes = max(alike.items(), key=lambda one: len(one[1]))
            others = sum(map(len, alike.values())) - len(nodes)
            more = f"; {counted(others, 'other')} for another reason" if others else ""
            cures = dict.fromkeys(cure for one in nodes for cure in one.judgement.cures)
            tried = f". Outside of onnxpad: {either(tuple(cures))}" if cures else ""
            named = few([f"'{one.node.label}'" for one in nodes], _NAMES_SHOWN)
            yield visible(
                f"no rewrite for {name} is known, whatever is said of sizes: no way for {named}, "
                f"because {why}{more}{tried}"
            )
            if helped := sum(isinstance(one.way, PassPlan) for one in found):
                words = [
                    "onnxpad rewrite",
                    _typed(model),
                    f"--target {asked_as(name)} --although-unfit",
                ]
                words += [given_text(inspection.assumed), "-o OUT"]
                typed = visible(" ".join(filter(None, words)))
                yield f"next, for {helped} of the nodes: {typed}"
