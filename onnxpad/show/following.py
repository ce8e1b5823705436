"""What to type next about a model that was inspected."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from onnxpad.inspection import FOLLOWED, Inspection, PaddedNode
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.traps import helping
from onnxpad.show.document import Command, Line
from onnxpad.show.wording import given_text

_CHOICE = "--ambiguous auto_pad"
_REWRITE = "onnxpad rewrite"


def next_lines(inspection: Inspection, model: str) -> Iterator[Line]:
    """The command that a reader most likely wants, and who explains the rest."""
    traps = [trap for node in inspection.nodes for trap in node.traps]
    judged = inspection.targets.values()
    failing = any(one.judgement.answer.fails for verdicts in judged for one in verdicts)
    asked = [f"--target {asked_as(name)}" for name in inspection.targets]
    stated = [*asked, inspection.live, given_text(inspection.assumed)]
    if any(_CHOICE in node.hints for node in inspection.nodes) and len(asked) <= FOLLOWED:
        yield _rewrite(model, [*stated, _CHOICE])
        yield _rewrite(model, [*stated, "--ambiguous pads"], "or, if it was trained with its pads")
    else:
        gives_sizes = any(isinstance(fact, int) for fact in inspection.assumed.values())
        options = _for_targets(inspection)
        if options is None and asked and gives_sizes and not failing:
            options = stated
        elif options is None and all(one.verdict == "takes" for v in judged for one in v):
            options = _for_traps(inspection)
        if options is not None:
            follows = f"--ambiguous {inspection.ambiguous}" if inspection.ambiguous else ""
            yield _rewrite(model, [*options, follows])
    if inspection.following is None and 0 < len(asked) <= FOLLOWED:
        from onnxpad.rewriting.for_target.report import PassPlan

        for name, found in inspection.targets.items():
            if helped := sum(isinstance(one.way, PassPlan) for one in found):
                target = f"--target {asked_as(name)}"
                although = [target, "--although-unfit", *stated[len(asked) :]]
                yield _rewrite(model, although, f"next, for {helped} of the nodes")
    if inspection.nodes and not traps and not failing:
        typed = f"onnxpad diagnose {shlex.quote(model)} --data REF.npz"
        yield Command(typed, "if its numbers are wrong")
    if traps:
        yield "'onnxpad explain NAME' says more about a trap, and which passes help"


def _rewrite(model: str, options: Sequence[str], case: str = "next") -> Command:
    words = (_REWRITE, shlex.quote(model), *options, "-o OUT")
    return Command(" ".join(filter(None, words)), case)


def _for_traps(inspection: Inspection) -> list[str] | None:
    """What to say to `rewrite` about traps, for the targets that take all; None for nothing.

    Without targets it is to write auto_pad as pads.
    """
    asked = inspection.targets
    nodes = [
        node
        for node in inspection.nodes
        if node.pads is not None or any("--dim" in hint for hint in node.hints[-1:])
    ]
    traps = [trap for node in nodes for trap in node.traps]
    targets = [n for trap in traps if (n := helping(trap.code, trap.passes)) not in ("", *asked)]
    if targets and not inspection.live:
        names = [f"--target {asked_as(name)}" for name in (*asked, targets[0])]
        return [*names, given_text(inspection.assumed)]
    if asked:
        return None
    passes = dict.fromkeys(trap.passes[0] for trap in traps if trap.passes)
    if any("in-batches" in node.forms for node in nodes):
        passes["plain-batches"] = None
    auto_pad = any("auto_pad" in node.forms for node in inspection.nodes)
    if not (passes or inspection.ambiguous or auto_pad):
        return None
    dims = _dims_for(inspection.nodes)
    stated = {name: fact for name, fact in inspection.assumed.items() if name not in dims}
    return [*(f"--pass {name}" for name in passes), given_text(stated), *dims.values()]


def _dims_for(nodes: Sequence[PaddedNode]) -> dict[str, str]:
    """Facts of sizes that make pads known: numbers only where they mend a trap."""
    facts: dict[str, str] = {}
    for node in nodes:
        hint = node.hints[-1] if node.pads is None and node.hints else ""
        mends = any(trap.passes for trap in node.traps)
        for fact in shlex.split(hint)[1::2] if hint.startswith("--dim") else ():
            if mends or "%" in fact:
                facts.setdefault(fact.partition("=")[0].partition("%")[0], f"--dim '{fact}'")
    return facts


def _for_targets(inspection: Inspection) -> list[str] | None:
    """What to say to `rewrite` for the targets that it was tried for; None where none is helped."""
    tried = inspection.following
    if tried is None:
        return None
    targets = [f"--target {asked_as(name)}" for name in tried.targets]
    device = ["--require-device"] if tried.require_device else []
    return [*targets, inspection.live, given_text(tried.dims), *device]
