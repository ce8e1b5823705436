"""Takes nodes out of a scope, with the constants and constant arithmetic that only they read."""

from __future__ import annotations

from dataclasses import dataclass, field

from onnxpad.graph.reading.folding import FOLDABLE
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.scopes import PLAIN_DOMAINS, Scope


@dataclass(eq=False)
class Remover:
    """What is gone from one scope: names of tensors and constants."""

    scope: Scope
    dropped: set[str] = field(default_factory=set)

    def remove_unused(self, node: Node) -> None:
        """Remove a node that is still there, if nothing reads what it writes."""
        if node.key not in self.scope.removed and not any(
            self.scope.uses.get(name) for name in node.outputs if name
        ):
            self.remove(node)

    def remove(self, node: Node) -> None:
        """Remove a node; what another node writes by now stays."""
        scope = self.scope
        scope.removed.add(node.key)
        for name in node.outputs:
            if scope.producers.get(name) is node:
                scope.producers.pop(name)
                self.dropped.add(name)
        for name in node.inputs:
            count_use(scope, name, -1)
        for name in node.inputs[1:]:
            self.remove_constant(name)

    def remove_constant(self, name: str) -> None:
        """Remove what nothing reads any more: a constant, or the arithmetic that made one."""
        scope, pending = self.scope, [name]
        while pending:
            name = pending.pop()
            if not name or scope.uses.get(name):
                continue
            maker = scope.producers.get(name)
            if maker is not None and _is_arithmetic(maker):
                if any(scope.uses.get(output) for output in maker.outputs):
                    continue
                scope.removed.add(maker.key)
                for output in filter(None, maker.outputs):
                    scope.producers.pop(output, None)
                    self.dropped.add(output)
                for used in maker.inputs:
                    count_use(scope, used, -1)
                pending += maker.inputs
            elif name in scope.initializers and name not in scope.inputs:
                scope.initializers.pop(name)
                self.dropped.add(name)


def _is_arithmetic(node: Node) -> bool:
    known = node.op_type == "Constant" or node.op_type in FOLDABLE
    return known and node.domain in PLAIN_DOMAINS


def count_use(scope: Scope, name: str, change: int) -> None:
    """Keep the count of readers of a tensor, wherever it is defined."""
    if name:
        owner = scope.owner(name) or scope
        owner.uses[name] = owner.uses.get(name, 0) + change
