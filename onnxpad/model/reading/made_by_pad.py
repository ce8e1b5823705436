"""The Pad that makes a tensor."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.optimised import made_by
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.padding.chain import Pads, PadStep, Unclear
from onnxpad.padding.fills import Constant


def pad_behind(context: Context, name: str) -> tuple[Node | None, str]:
    """The Pad that makes a tensor; or why it is out of reach."""
    scope = context.scope
    maker = scope.producers.get(name)
    if maker is not None:
        return (maker if is_pad(maker) else None), ""
    owner = scope.owner(name)
    maker = owner.producers.get(name) if owner is not None else None
    if maker is None or not is_pad(maker):
        return None, ""
    return None, f"the Pad '{maker.name or name}' stands in an enclosing graph"


def out_of_reach(context: Context, name: str, reason: str, rank: int) -> PadStep:
    """A Pad that cannot be worked on because of `reason`."""
    found = made_by(context, name)
    if found is None or not is_pad(found[1]):
        return PadStep(Pads.zero(rank), Constant(0), unclear=Unclear(reason))
    return beyond_reach(read_pad(*found, rank), reason)


def beyond_reach(step: PadStep, reason: str) -> PadStep:
    """A Pad that cannot be worked on where it stands, whatever it says."""
    hints = step.unclear.hints if step.unclear else ()
    return replace(step, unclear=Unclear(reason, hints))
