"""Ported models: for each padded operator, the lines to write in a framework."""

from __future__ import annotations

from onnxpad.errors import RequestError, counted, either
from onnxpad.porting import PortedNode, Porting
from onnxpad.show.document import Document, Section
from onnxpad.show.pasting import code_of
from onnxpad.show.wording import visible


def porting_document(found: Porting, language: str, model: str = "") -> Document:
    """A section for each operator: comments that name it and its weight, and its code."""
    sections = tuple(
        Section(f"node-{number}", node.node, code=_block(node, language))
        for number, node in enumerate(found.nodes, 1)
    )
    headline = f"# {counted(len(found.nodes), 'padded operator')} in {language}"
    headline = headline if found.nodes else "# no operator pads"
    return Document(f"Code in {language} of", model, headline, sections=sections)


def record(node: PortedNode, language: str) -> dict[str, str]:
    """The code of a node as JSON has it: `code`, or in `reason` why there is none."""
    code, why, _ = _code(node, language)
    return {"code": code, "reason": why}


def complete(found: Porting, language: str) -> bool:
    """Whether every operator can be written so."""
    return all(_code(node, language)[0] for node in found.nodes)


def _block(node: PortedNode, language: str) -> str:
    code, why, hints = _code(node, language)
    tensors = ("weight", node.weight), ("bias", node.bias)
    facts = [f"{what} '{name}'" for what, name in tensors if name]
    facts += ["no bias"] if node.weight and not node.bias else []
    head = f"# {node.op} '{node.node}'" + (f": {', '.join(facts)}" if facts else "")
    tried = f"\n#   try {either(hints)}" if hints else ""
    return "\n".join((visible(head), f"# not ported: {why}{tried}" if why else code))


def _code(node: PortedNode, language: str) -> tuple[str, str, tuple[str, ...]]:
    """The code, or '' with the reason and what to try."""
    if node.reason:
        return "", node.reason, node.hints
    try:
        codes = {code_of(one, language, node.step) for one in node.layers or (None,)}
    except RequestError as error:
        return "", str(error), ()
    if len(codes) > 1:
        return "", f"the code in {language} hangs on the size, which is open", node.hints
    return codes.pop(), "", ()
