"""What makes a graph one that nobody can run, or only runtimes with operators of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnx import defs

from onnxpad.errors import ModelError
from onnxpad.model.graph.document import WITH_BODIES
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Document, Scope, address_of
from onnxpad.padding.operators import PLAIN_DOMAINS, operator, plain_domain
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


def refuse_broken(document: Document) -> None:
    """Raise ModelError for a node that reads a tensor which nothing makes, or no call's attribute.

    Of bodies those of the operators of ONNX are asked for tensors: what others hand to theirs is
    not known.
    """
    for scope in document.scopes.values():
        for node in () if scope.outermost.is_function else scope.nodes:
            for one in node.proto.attribute:
                if name := one.ref_attr_name:
                    why = f"takes its {one.name} from the attribute '{name}' of a function"
                    _refuse(scope, node, f"{why}, but stands in none")
        for name, node in scope.dangling.items() if _is_plain(scope) else ():
            why = "which no node makes, and which is no input and no initializer"
            _refuse(scope, node, f"reads '{name}', {why}")


def _refuse(scope: Scope, node: Node, what: str) -> None:
    where = address_of(scope, node).label
    raise ModelError(f"the graph is broken: {node.op_type} '{where}' {what}; export it again")


def _is_plain(scope: Scope) -> bool:
    """Whether every graph that it stands in is a body of an operator of ONNX."""
    held = scope.holder
    if held and (held.domain not in PLAIN_DOMAINS or held.op_type not in WITH_BODIES):
        return False
    return scope.parent is None or _is_plain(scope.parent)


def title_of(node: Node) -> str:
    """The operator of a node, with its domain where that is not ONNX's own: 'my.custom.Foo'."""
    return node.op_type if node.domain in PLAIN_DOMAINS else f"{node.domain}.{node.op_type}"


def undefined_operators(document: Document) -> Iterator[tuple[Scope, Node]]:
    """Nodes whose operator neither ONNX, in their opset, nor a function of the model defines.

    Bodies of such nodes are left out, and so are padded operators of com.microsoft, which targets
    have rows about. Opsets that the installed onnx does not know, or that a file leaves out, define
    every operator of ONNX's own domain.
    """
    for scope in filter(_is_plain, document.scopes.values()):
        kinds = {(node.domain, node.op_type): node for node in scope.nodes}
        undefined = {kind for kind, node in kinds.items() if _is_undefined(document, scope, node)}
        for node in scope.ordered() if undefined else ():
            if (node.domain, node.op_type) in undefined:
                yield scope, node


def _is_undefined(document: Document, scope: Scope, node: Node) -> bool:
    name, domain = node.op_type, plain_domain(node.domain)
    if domain:
        is_defined = defs.has(name, domain) or operator(domain, name) is not None
    else:
        is_known = 1 <= scope.opset <= defs.onnx_opset_version()
        is_defined = not is_known or defs.has(name, scope.opset, "")
    # A function of the model defines it, whatever the overload.
    return not is_defined and all(key[:2] != (domain, name) for key in document.functions)


def unknown_operators(document: Document) -> tuple[UnknownOperator, ...]:
    """Operators of ONNX's own domain that the opset of their node does not have."""
    found: dict[tuple[str, int], list[str]] = {}
    for scope, node in undefined_operators(document):
        if node.domain in PLAIN_DOMAINS:
            labels = found.setdefault((node.op_type, scope.opset), [])
            labels.append(address_of(scope, node).label)
    return tuple(
        UnknownOperator(name, opset, nodes[0], len(nodes), _since(name))
        for (name, opset), nodes in found.items()
    )


def _since(name: str) -> int:
    known = range(1, defs.onnx_opset_version() + 1)
    return next((number for number in known if defs.has(name, number, "")), 0)
