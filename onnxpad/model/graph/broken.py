"""What makes a graph one that nobody can run, or only runtimes with operators of their own."""

from __future__ import annotations

from typing import NamedTuple

from onnx import defs

from onnxpad.errors import ModelError
from onnxpad.model.graph.document import WITH_BODIES
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Document, Scope, address_of
from onnxpad.padding.operators import PLAIN_DOMAINS
from onnxpad.reports import reported


@reported("*")
class UnknownOperator(NamedTuple):
    """An operator of the ONNX domain that its opset does not have, and the first such node.

    `since` is the first opset that has it, 0 where none has.
    """

    operator: str
    opset: int
    node: str
    nodes: int
    since: int

    @property
    def sentence(self) -> str:
        """What follows: 'opset 17 of ONNX has no Konv: only a runtime with ... loads the model'."""
        came = f"; it came with {self.since}" if self.since else ""
        return (
            f"opset {self.opset} of ONNX has no {self.operator}{came}: only a runtime with an "
            "operator of its own of that name loads the model"
        )


def refuse_dangling(document: Document) -> None:
    """Raise ModelError for a node that reads a tensor which nothing makes.

    Of bodies those of the operators of ONNX are asked: what others hand to theirs is not known.
    """
    for scope in document.scopes.values():
        for name, node in scope.dangling.items():
            if _is_plain(scope):
                where = address_of(scope, node).label
                raise ModelError(
                    f"the graph is broken: {node.op_type} '{where}' reads '{name}', which no node "
                    "makes, and which is no input and no initializer; export it again"
                )


def _is_plain(scope: Scope) -> bool:
    """Whether every graph that it stands in is a body of an operator of ONNX."""
    found: Scope | None = scope
    while found is not None:
        held = found.holder
        if held and (held.domain not in PLAIN_DOMAINS or held.op_type not in WITH_BODIES):
            return False
        found = found.parent
    return True


def unknown_operators(document: Document) -> tuple[UnknownOperator, ...]:
    """Operators of ONNX's own domain that the opset of their node does not have.

    Nothing is said of calls of local functions, nor of opsets that the installed onnx does not
    know or that a file leaves out.
    """
    newest = defs.onnx_opset_version()
    found: dict[tuple[str, int], list[str]] = {}
    for scope in document.scopes.values():
        if not (1 <= scope.opset <= newest and _is_plain(scope)):
            continue
        kinds = {(node.op_type, node.domain): node for node in reversed(scope.nodes)}
        for (name, domain), node in kinds.items():
            if domain not in PLAIN_DOMAINS or defs.has(name, scope.opset, ""):
                continue
            if _is_local(document, node):
                continue
            same = (one for one in scope.nodes if (one.op_type, one.domain) == (name, domain))
            labels = found.setdefault((name, scope.opset), [])
            labels += (address_of(scope, one).label for one in same)
    return tuple(
        UnknownOperator(name, opset, nodes[0], len(nodes), _since(name))
        for (name, opset), nodes in found.items()
    )


def _is_local(document: Document, node: Node) -> bool:
    """Whether a function of the model defines it, under either name of the domain."""
    return any(
        name == node.op_type and (domain == node.domain or {domain, node.domain} <= PLAIN_DOMAINS)
        for domain, name, _ in document.functions
    )


def _since(name: str) -> int:
    known = range(1, defs.onnx_opset_version() + 1)
    return next((number for number in known if defs.has(name, number, "")), 0)
