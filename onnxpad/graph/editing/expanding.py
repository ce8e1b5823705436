"""The edits that put an expansion in the place of a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnxpad.errors import InternalError
from onnxpad.expansion import (
    Expansion,
    Grown,
    Itself,
    Made,
    Named,
    Numbers,
    Operand,
    Read,
    Reshaped,
    Step,
)
from onnxpad.graph.editing.cancelling import cancelled
from onnxpad.graph.editing.edits import (
    Edit,
    GrownConstant,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    RemoveConstant,
    RemoveNode,
    RemoveUnused,
    ReshapedConstant,
    SetAttribute,
    SetInput,
    SetOutput,
)
from onnxpad.graph.editing.naming import Names, as_nodes, next_key, stem
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Address, Node
from onnxpad.graph.reading.scopes import address_of


def expand(context: Context, node: Node, expansion: Expansion, names: Names) -> list[Edit]:
    """Edits that let the steps of `expansion` compute what `node` computes."""
    return list(_Expander(context, node, expansion, names).edits())


class _Expander:
    def __init__(self, context: Context, node: Node, expansion: Expansion, names: Names) -> None:
        self._context = context
        self._node = node
        self._place = address_of(context.scope, node)
        self._expansion = expansion
        self._names = names
        self._read = tuple(node.inputs)
        self._constants: dict[Operand, str] = {}
        self._outputs: dict[Made, str] = {}
        self._squeezes: list[Address] = []

    def edits(self) -> Iterator[Edit]:
        expansion, itself = self._expansion, self._expansion.itself
        self._name_outputs()
        anchor = self._place
        for index, step in enumerate(expansion.steps):
            if isinstance(step, Itself):
                yield from self._change(step, index)
                continue
            if not any(made.step == index for made in expansion.results):
                edits = self._cancelled(step, index)
                if edits is not None:
                    yield from edits
                    continue
            behind = itself is not None and index > itself
            insert, constants = self._insertion(step, index, anchor, behind=behind)
            yield from constants
            yield insert
            if behind:
                anchor = Address(anchor.scope, insert.key, insert.name)
        yield from self._cleanup()

    def _name_outputs(self) -> None:
        """The node's own names go to the results, everything else gets a new name."""
        written = list(self._node.outputs)
        for made, name in zip(self._expansion.results, written, strict=False):
            if name:
                if made in self._outputs:
                    raise InternalError(f"{self._place.label}: one result for two outputs")
                self._outputs[made] = name
        for index, step in enumerate(self._expansion.steps):
            if isinstance(step, Itself):
                for position, name in enumerate(written):
                    made = Made(index, position)
                    if name and made not in self._outputs:
                        self._outputs[made] = self._names.new(f"{stem(self._node)}/{name}_inner")
                continue
            for position in range(step.outputs):
                made = Made(index, position)
                if made not in self._outputs:
                    suffix = f"_output{position or ''}"
                    self._outputs[made] = self._names.new(f"{self._stem(step.role)}{suffix}")

    def _stem(self, role: str) -> str:
        return f"{stem(self._node)}/{role}"

    def _change(self, step: Itself, index: int) -> Iterator[Edit]:
        for name in step.removes:
            yield RemoveAttribute(self._place, name)
        for name, value in step.sets:
            yield SetAttribute(self._place, name, value)
        for position, operand in step.inputs:
            tensor, constants = ("", []) if operand is None else self._tensor(operand)
            yield from constants
            yield SetInput(self._place, position, tensor)
        for position, name in enumerate(self._node.outputs):
            if name and self._outputs[Made(index, position)] != name:
                yield SetOutput(self._place, position, self._outputs[Made(index, position)])

    def _cancelled(self, step: Step, index: int) -> Sequence[Edit] | None:
        """The edits without a step that only takes back a Squeeze in front; None: it is needed."""
        far = step.inputs[:1] == (Read(0),) and not self._squeezes
        found = cancelled(self._context, self._node, step, self._names, far=far)
        if found is None:
            return None
        self._outputs[Made(index)] = found.tensor
        self._squeezes += found.squeezes
        return found.edits

    def _insertion(
        self, step: Step, index: int, anchor: Address, *, behind: bool
    ) -> tuple[InsertNode, list[Edit]]:
        edits: list[Edit] = []
        inputs = []
        for operand in step.inputs:
            tensor, constants = ("", []) if operand is None else self._tensor(operand)
            inputs.append(tensor)
            edits += constants
        insert = InsertNode(
            anchor,
            next_key(self._context.scope),
            step.op_type,
            self._names.new(self._stem(step.role)),
            tuple(inputs),
            tuple(self._outputs[Made(index, position)] for position in range(step.outputs)),
            step.attributes,
            step.domain,
            behind,
        )
        return insert, edits

    def _tensor(self, operand: Operand) -> tuple[str, list[Edit]]:
        """The name of an operand, and the edits that make it where it is a new constant."""
        match operand:
            case Read(position):
                return self._read[position], []
            case Named(tensor):
                return tensor, []
            case Made():
                return self._outputs[operand], []
        if operand in self._constants:
            return self._constants[operand], []
        edit = self._constant(operand)
        self._constants[operand] = edit.name
        return edit.name, [edit]

    def _constant(
        self, operand: Numbers | Grown | Reshaped
    ) -> NewConstant | GrownConstant | ReshapedConstant:
        as_node, key = as_nodes(self._context), next_key(self._context.scope)
        match operand:
            case Numbers(role, dtype, dims, values):
                name = self._names.new(self._stem(role))
                return NewConstant(self._place, name, dtype, dims, values, as_node, key)
            case Grown(source, begins, ends, zero_point):
                origin = self._tensor(source)[0]
                zero = self._tensor(zero_point)[0] if zero_point else ""
                name = self._names.new(f"{origin}/grown")
                return GrownConstant(self._place, name, origin, begins, ends, zero, as_node, key)
            case Reshaped(source, dims):
                origin = self._tensor(source)[0]
                name = self._names.new(f"{origin}/reshaped")
                return ReshapedConstant(self._place, name, origin, dims, as_node, key)

    def _cleanup(self) -> Iterator[Edit]:
        """What the node read and nothing reads any more goes."""
        if self._expansion.itself is None:
            yield RemoveNode(self._place)
            return
        step = self._expansion.steps[self._expansion.itself]
        yield from map(RemoveUnused, self._squeezes)
        scope = self._context.scope
        for position, _ in step.inputs if isinstance(step, Itself) else ():
            name = self._read[position] if position < len(self._read) else ""
            maker = scope.producers.get(name)
            if maker is not None and maker.op_type in ("Pad", "DequantizeLinear"):
                yield RemoveUnused(address_of(scope, maker))
                source = scope.producers.get(maker.inputs[0])
                if source is not None and source.op_type == "QuantizeLinear":
                    yield RemoveUnused(address_of(scope, source))
            elif name:
                yield RemoveConstant(self._place, name)
