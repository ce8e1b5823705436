"""Ported models: for each padded operator, the lines to write in a framework."""

from __future__ import annotations

from onnxpad.errors import RequestError, either
from onnxpad.porting import PortedNode, Porting
from onnxpad.show.pasting import code_of
from onnxpad.show.wording import visible


def porting_text(found: Porting, language: str) -> str:
    """Blocks of code, each behind comments that name the operator and its weight."""
    blocks = [_block(node, language) for node in found.nodes]
    return "\n\n".join(blocks or ["# no operator pads"]) + "\n"


def record(node: PortedNode, language: str) -> dict[str, str]:
    """The code of a node as JSON has it: `code`, or in `reason` why there is none."""
    code, why, _ = _code(node, language)
    return {"code": code, "reason": why}


def complete(found: Porting, language: str) -> bool:
    """Whether every operator can be written so."""
    return all(_code(node, language)[0] for node in found.nodes)


def _block(node: PortedNode, language: str) -> str:
    code, why, hints = _code(node, language)
    told = [f"{what} '{name}'" for what, name in _tensors(node) if name]
    told += ["no bias"] if node.weight and not node.bias else []
    head = visible(f"# {node.op} '{node.node}'" + (f": {', '.join(told)}" if told else ""))
    if not why:
        return f"{head}\n{code}"
    tried = f"\n#   try {either(hints)}" if hints else ""
    return f"{head}\n# not ported: {visible(why)}{tried}"


def _tensors(node: PortedNode) -> tuple[tuple[str, str], ...]:
    return ("weight", node.weight), ("bias", node.bias)


def _code(node: PortedNode, language: str) -> tuple[str, str, tuple[str, ...]]:
    """The code, or '' with the reason and what to try."""
    if node.reason:
        return "", node.reason, node.hints
    try:
        codes = {code_of(one, language, node.step) for one in node.layers or (None,)}
    except RequestError as error:
        return "", error.told, ()
    if len(codes) > 1:
        return "", f"what to write in {language} hangs on its size, which is open", node.hints
    return codes.pop(), "", ()
