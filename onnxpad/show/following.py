"""What to type next about a model that was inspected."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from onnxpad.inspection import FOLLOWED, Inspection
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
    options = for_targets = _for_targets(inspection)
    if any(_CHOICE in node.hints for node in inspection.nodes) and len(asked) <= FOLLOWED:
        yield _rewrite(model, [*stated, _CHOICE])
        yield _rewrite(model, [*stated, "--ambiguous pads"], "or, if it was trained with its pads")
    else:
        gives_sizes = any(isinstance(fact, int) for fact in inspection.assumed.values())
        if options is None and asked and gives_sizes and not failing:
            options = stated
        elif options is None and all(one.verdict == "takes" for v in judged for one in v):
            options = _for_traps(inspection)
        if options is not None:
            follows = f"--ambiguous {inspection.ambiguous}" if inspection.ambiguous else ""
            yield _rewrite(model, [*options, follows])
    if for_targets is None and 0 < len(asked) <= FOLLOWED:
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
    stated = given_text(inspection.assumed)
    return [*(f"--pass {name}" for name in passes), stated, *_dims_for(inspection)]


def _dims_for(inspection: Inspection) -> list[str]:
    """Facts of sizes that make pads known: numbers only where they mend a trap.

    None about a size that the user stated: a command takes one fact of each.
    """
    facts: dict[str, str] = {}
    for node in inspection.nodes:
        hint = node.hints[-1] if node.pads is None and node.hints else ""
        mends = any(trap.passes for trap in node.traps)
        for fact in shlex.split(hint)[1::2] if hint.startswith("--dim") else ():
            name = fact.partition("=")[0].partition("%")[0]
            if name not in inspection.assumed and (mends or "%" in fact):
                facts.setdefault(name, f"--dim '{fact}'")
    return list(facts.values())


def _for_targets(inspection: Inspection) -> list[str] | None:
    """What to say to `rewrite` for targets that it helps, and those that take all; else None.

    Where no target has a node to mend, it is to require the device.
    """
    asked, openings = inspection.targets, inspection.openings
    if not 0 < len(asked) <= FOLLOWED:
        return None
    helped = [name for name in asked if openings[name].writes and _has_ways(inspection, name)]
    device = ["--require-device"] * (not helped)
    if device:
        falling = {
            name: {one.on_device for one in found if one.verdict == "falls back"}
            for name, found in asked.items()
        }
        helped = [name for name, comes in falling.items() if comes == {True}]
    if not helped:
        return None
    fine = [n for n in asked if not any(one.judgement.answer.fails for one in asked[n])]
    names = [name for name in asked if name in (*helped, *fine)]
    facts = [fact for name in names for fact in openings[name].facts]
    dims = dict(sorted(facts, key=lambda fact: isinstance(fact[1], int)))  # numbers win
    targets = [f"--target {asked_as(name)}" for name in names]
    return [*targets, inspection.live, given_text({**dims, **inspection.assumed}), *device]


def _has_ways(inspection: Inspection, name: str) -> bool:
    """Whether a target fails a node, or takes one behind a rewrite alone."""
    from onnxpad.rewriting.for_target.report import PassPlan

    found = inspection.targets[name]
    mended = (one.judgement.answer.fails or isinstance(one.way, PassPlan) for one in found)
    return bool(inspection.openings[name].facts) or any(mended)
