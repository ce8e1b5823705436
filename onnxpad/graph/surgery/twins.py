"""Copies of what stands in a graphsurgeon function."""

from __future__ import annotations

import onnx_graphsurgeon as gs


class Twins:
    """Copies of nodes and tensors, one for each."""

    def __init__(self) -> None:
        self._nodes: dict[int, gs.Node] = {}
        self._tensors: dict[str, gs.Tensor] = {}

    def node(self, node: gs.Node) -> gs.Node:
        """The copy of a node."""
        if id(node) not in self._nodes:
            self._nodes[id(node)] = node.copy(
                inputs=[self.tensor(tensor) for tensor in node.inputs],
                outputs=[self.tensor(tensor) for tensor in node.outputs],
            )
        return self._nodes[id(node)]

    def tensor(self, tensor: gs.Tensor) -> gs.Tensor:
        """The copy of a tensor."""
        if tensor.is_empty():
            return gs.Variable.empty()
        if tensor.name not in self._tensors:
            self._tensors[tensor.name] = tensor.copy()
        return self._tensors[tensor.name]

    def function(self, function: gs.Function, name: str) -> gs.Function:
        """The copy of a function under another name."""
        return gs.Function(
            name,
            function.domain,
            nodes=[self.node(node) for node in function.nodes],
            inputs=[self.tensor(tensor) for tensor in function.inputs],
            outputs=[self.tensor(tensor) for tensor in function.outputs],
            doc_string=function.doc_string,
            opset=function.opset,
            import_domains=function.import_domains,
            attrs=dict(function.attrs),
            ir_version=function.ir_version,
        )
