"""The edits that put a chain or an expansion in the place of the node that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from onnxpad.errors import InternalError
from onnxpad.geometry.size import stated_names
from onnxpad.model.editing.names import Names, as_nodes, next_key, stem
from onnxpad.model.editing.script import (
    Edit,
    ForgetType,
    GrownConstant,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    RemoveConstant,
    RemoveNode,
    RemoveUnused,
    ReshapedConstant,
    Resize,
    SetAttribute,
    SetInput,
    SetOutput,
)
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Address, Node
from onnxpad.model.graph.scopes import address_of
from onnxpad.model.reading.crossing import data_position, path_to
from onnxpad.model.reading.nearest_pad import row_of_pads
from onnxpad.model.reading.survey import Site
from onnxpad.padding.chain import AutoPad, Chain, Mark, NewPad, Pads, PadStep
from onnxpad.padding.expansion import (
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
from onnxpad.padding.fills import Constant, TensorValue
from onnxpad.padding.operators import AttributeValue, Kind, PadInput, Since, name_of_pads


def emit(site: Site, after: Chain | Expansion, names: Names) -> list[Edit]:
    """Edits that make the node of `site` compute `after`."""
    node, address, before = site.node, site.address, site.chain
    if isinstance(after, Expansion):
        return _Expander(site.context, node, after, names, before.reads).edits()
    if after.op.kind is Kind.PAD and isinstance(after.pad, NewPad):
        anew = _repadded(after, after.pad)
        if before.reads:
            anew = _as_one_pad(after, anew)
        return _Expander(site.context, node, anew, names, before.reads).edits()
    edits = [*_padding_edits(node, address, before, after), *_number_edits(address, before, after)]
    if Mark.DECLARED_OTHERWISE in before.around.marks - after.around.marks:
        found = site.context.type_of(node.outputs[0]).dims
        edits.append(Resize(address, node.outputs[0], stated_names(found)))
    emitter = _Emitter(site.context, node, names)
    if before.far_pad is not None and after.far_pad is None:
        edits += emitter.past_far_pad(before)
    elif before.pad is not None and after.pad is None:
        edits += emitter.past_pads(emitter.producer(node.inputs[0]).inputs[0])
    elif isinstance(after.pad, NewPad):
        edits += emitter.new_pad(after, after.pad)
    return edits


def _repadded(chain: Chain, step: NewPad) -> Expansion:
    """A Pad node with other pads over all axes, another mode and number."""
    if not isinstance(step.fill, Constant):
        raise InternalError(f"a plan gives a Pad node a number, and no {step.fill}")
    value = step.fill.value
    if chain.opset < Since.PAD_INPUTS:
        sets = (("mode", step.mode), (name_of_pads(chain.opset), step.pads.flat))
        return Expansion((Itself((), (*sets, ("value", float(value)))),), (Made(0),))
    inputs: dict[int, Operand | None] = {
        PadInput.PADS: Numbers("pads", "int64", (len(step.pads.flat),), step.pads.flat),
        PadInput.VALUE: Numbers("value", chain.dtype, (), (value,)) if value else None,
        PadInput.AXES: None,
    }
    read = tuple((place, one) for place, one in inputs.items() if one or place < len(chain.inputs))
    return Expansion((Itself(read, (("mode", step.mode),)),), (Made(0),))


def _as_one_pad(chain: Chain, anew: Expansion) -> Expansion:
    """The same as a new node, in the place of several that did what a Pad does."""
    (itself,) = anew.steps
    if not isinstance(itself, Itself):
        raise InternalError("a Pad is written anew by itself")
    read = [operand for _, operand in sorted(itself.inputs, key=lambda one: one[0])]
    step = Step("pad", "Pad", (Named(chain.reads[0]), *read), itself.sets)
    return Expansion((step,), (Made(0),))


def _padding_edits(node: Node, address: Address, before: Chain, after: Chain) -> Iterator[Edit]:
    match after.padding:
        case Pads() as pads:
            settled = before.conflict_settled and not after.conflict_settled
            if isinstance(before.padding, AutoPad) or settled:
                yield RemoveAttribute(address, "auto_pad")
            if pads != before.padding:
                yield SetAttribute(address, "pads", pads.flat)
        case AutoPad() as mode:
            if mode != before.padding:
                if any(attribute.name == "pads" for attribute in node.proto.attribute):
                    yield RemoveAttribute(address, "pads")
                yield SetAttribute(address, "auto_pad", str(mode))
        case other:
            if other != before.padding:
                raise InternalError(f"{address.label}: a pass made the padding unclear")


def _number_edits(address: Address, before: Chain, after: Chain) -> Iterator[Edit]:
    """Attributes of an operator that say how its padding counts."""
    for name, was, now in (
        ("ceil_mode", before.ceil_mode, after.ceil_mode),
        ("count_include_pad", before.counts_padding, after.counts_padding),
    ):
        if now and not was:
            yield SetAttribute(address, name, 1)
        if was and not now:
            yield RemoveAttribute(address, name)
    if before.output_shape and not after.output_shape:
        yield RemoveAttribute(address, "output_shape")
    if after.output_padding and after.output_padding != before.output_padding:
        yield SetAttribute(address, "output_padding", after.output_padding)
    if before.output_padding and not after.output_padding:
        yield RemoveAttribute(address, "output_padding")


class _Emitter:
    """Edits of what stands in front of one node."""

    def __init__(self, context: Context, node: Node, names: Names) -> None:
        self._context, self._node, self._names = context, node, names
        self._scope = context.scope
        self._as_nodes = as_nodes(context)
        self._address = self.address(node)

    def address(self, node: Node) -> Address:
        """The address of a node of the same scope."""
        return address_of(self._scope, node)

    def producer(self, name: str) -> Node:
        """The node that makes a tensor."""
        return self._scope.producers[name]

    def past_pads(self, source: str) -> list[Edit]:
        """Edits after which the node reads `source`, which stands in front of its Pads."""
        name, gone = self._node.inputs[0], []
        while name != source:
            maker = self.producer(name)
            gone.append(RemoveUnused(self.address(maker)))
            if self._scope.uses.get(name, 0) > 1:
                break
            name = maker.inputs[0]
        return [SetInput(self._address, 0, source), *gone]

    def past_far_pad(self, chain: Chain) -> list[Edit]:
        """Edits after which the node, read as `chain`, does not read its far Pad.

        The operators on the way are led past the Pad where only this node reads them, and copied
        where others do.
        """
        name = self._node.inputs[0]
        if chain.pad is not None:
            row = row_of_pads(self._context, name, chain.tensor_rank)
            return self.past_pads(row.source if row else self.producer(name).inputs[0])
        way = path_to(self._context, name)
        pad = self.producer(way.source)
        _, led = self._route(way.nodes)
        return [*led(pad.inputs[0]), RemoveUnused(self.address(pad))]

    def new_pad(self, chain: Chain, step: NewPad) -> list[Edit]:
        """A Pad in front of the node, or in front of the conversions that stand there."""
        replaced = self.producer(self._node.inputs[0]) if step.instead else None
        dequantised = None if replaced is not None else chain.around.dequantised
        way: list[Node] = []
        for _ in dequantised.steps if dequantised else ():
            way.insert(0, self.producer([*way, self._node][0].inputs[0]))
        anchor, led = self._route(way)
        data = (replaced or [*way, self._node][0]).inputs[0]
        new = f"{stem(self._node)}/pad"
        name = self._names.new(new)
        output = self._names.new(f"{new}_output")
        key = next_key(self._scope)
        attributes: list[tuple[str, AttributeValue]] = [("mode", step.mode)]
        edits: list[Edit] = []
        more: list[str] = []
        if chain.opset < Since.PAD_INPUTS:
            if not isinstance(step.fill, Constant):
                raise InternalError(
                    f"{self._address.label}: Pad of opset {chain.opset} takes no tensor value"
                )
            attributes.append((name_of_pads(chain.opset), step.pads.flat))
            attributes.append(("value", float(step.fill.value)))
        else:
            dtype = dequantised.steps[0].dtype if dequantised else chain.dtype
            more, edits = self._pad_inputs(anchor, step, dtype)
        insert = InsertNode(anchor, key, "Pad", name, (data, *more), (output,), tuple(attributes))
        gone = [RemoveUnused(self.address(replaced))] if replaced is not None else []
        return [*edits, insert, *led(output), *gone]

    def _pad_inputs(
        self, anchor: Address, step: PadStep, dtype: str
    ) -> tuple[list[str], list[Edit]]:
        new, flat, fill = f"{stem(self._node)}/pad", step.pads.flat, step.fill
        numbers: list[tuple[str, str, tuple[int, ...], tuple[int | float, ...]]]
        numbers = [(self._names.new(f"{new}_pads"), "int64", (len(flat),), flat)]
        if isinstance(fill, Constant) and fill.value != 0:
            numbers.append((self._names.new(f"{new}_value"), dtype, (), (fill.value,)))
        if not isinstance(fill, Constant | TensorValue):
            raise InternalError(f"{anchor.label}: a Pad node cannot write {fill}")
        inputs = [name for name, *_ in numbers]
        inputs += [fill.tensor] if isinstance(fill, TensorValue) else []
        keys = next_key(self._scope), next_key(self._scope)
        return inputs, [
            NewConstant(anchor, *one, self._as_nodes, key)
            for one, key in zip(numbers, keys, strict=False)
        ]

    def _route(self, way: Sequence[Node]) -> tuple[Address, Callable[[str], list[Edit]]]:
        """How the node gets its input through the operators of `way` from another tensor.

        Operators that others read too are copied, the others change in place. The first result is
        where that tensor must stand in front of; the second gives the edits for its name.
        """
        shared = [place for place, one in enumerate(way) if self._scope.uses[one.outputs[0]] > 1]
        count = shared[-1] + 1 if shared else 0

        def led(source: str) -> list[Edit]:
            copies = max(count, self._copies_there(way, source))
            edits: list[Edit] = []
            kept = [*way[copies:], self._node]
            for one in way[:copies]:
                source, made = self._copy_of(one, kept[0], source)
                edits += made
            position = data_position(self._context, kept[0]) if len(kept) > 1 else 0
            edits.append(SetInput(self.address(kept[0]), position, source))
            edits += [ForgetType(self.address(one), one.outputs[0]) for one in kept[:-1]]
            return edits + [RemoveUnused(self.address(one)) for one in reversed(way[:copies])]

        return self.address([*way, self._node][count]), led

    def _copies_there(self, way: Sequence[Node], source: str) -> int:
        """Of how many of the first operators of `way` there are copies already."""
        for count, one in enumerate(way):
            source = self._copied(one, self._node, source)
            if not source:
                return count
        return len(way)

    def _copied(self, one: Node, before: Node, source: str) -> str:
        """The output of a copy of `one` that reads `source` in front of `before`, or ''."""
        output = self._names.copies.get((self._scope.id, one.key, source), "")
        known = self._scope.producers.get(output)
        if known is None or source not in known.inputs:
            return ""
        return output if self._scope.stands_before(known, before) else ""

    def _copy_of(self, one: Node, before: Node, source: str) -> tuple[str, list[Edit]]:
        """The output of a copy of `one` that reads `source`, and the edit that makes it.

        A copy that was made before serves again where it stands somewhere in front of `before`.
        """
        if known := self._copied(one, before, source):
            return known, []
        name = self._names.new(f"{stem(self._node)}/{stem(one)}")
        output = self._names.new(f"{name}_output")
        inputs = list(one.inputs)
        inputs[data_position(self._context, one)] = source
        attributes: list[tuple[str, AttributeValue]] = []
        for written, value in self._context.attributes(one).items():
            match value:
                case int() | float() | str():
                    attributes.append((written, value))
                case tuple():
                    attributes.append((written, tuple([int(number) for number in value])))
        self._names.copies[self._scope.id, one.key, source] = output
        insert = InsertNode(
            self.address(before),
            next_key(self._scope),
            one.op_type,
            name,
            tuple(inputs),
            (output,),
            tuple(attributes),
            one.domain,
        )
        return output, [insert]


class _Expander(_Emitter):
    """Edits that let the steps of an expansion compute what one node computes."""

    def __init__(
        self,
        context: Context,
        node: Node,
        expansion: Expansion,
        names: Names,
        reads: Sequence[str] = (),
    ) -> None:
        super().__init__(context, node, names)
        self._kept = frozenset(reads)
        self._expansion = expansion
        self._read = tuple(node.inputs)
        self._constants: dict[Operand, str] = {}
        self._outputs: dict[Made, str] = {}
        self._edits: list[Edit] = []

    def edits(self) -> list[Edit]:
        """All edits, in the order in which they are to be applied."""
        expansion, itself = self._expansion, self._expansion.itself
        self._name_outputs()
        anchor = self._address
        for index, step in enumerate(expansion.steps):
            if isinstance(step, Itself):
                self._change(step, index)
                continue
            behind = itself is not None and index > itself
            insert = self._insertion(step, index, anchor, behind=behind)
            self._edits.append(insert)
            if behind:
                anchor = insert.address
        return [*self._edits, *self._cleanup()]

    def _name_outputs(self) -> None:
        """The node's own names go to the results, everything else gets a new name."""
        written = list(self._node.outputs)
        for made, name in zip(self._expansion.results, written, strict=False):
            if name:
                if made in self._outputs:
                    raise InternalError(f"{self._address.label}: one result for two outputs")
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

    def _change(self, step: Itself, index: int) -> None:
        self._edits += [RemoveAttribute(self._address, name) for name in step.removes]
        self._edits += [SetAttribute(self._address, name, value) for name, value in step.sets]
        for position, operand in step.inputs:
            tensor = self._tensor(operand)
            self._edits.append(SetInput(self._address, position, tensor))
        for position, name in enumerate(self._node.outputs):
            result = self._outputs[Made(index, position)] if name else name
            if result != name:
                self._edits.append(SetOutput(self._address, position, result))

    def _insertion(self, step: Step, index: int, anchor: Address, *, behind: bool) -> InsertNode:
        inputs = tuple(map(self._tensor, step.inputs))
        return InsertNode(
            anchor,
            next_key(self._scope),
            step.op_type,
            self._names.new(self._stem(step.role)),
            inputs,
            tuple(self._outputs[Made(index, position)] for position in range(step.outputs)),
            step.attributes,
            step.domain,
            behind,
        )

    def _tensor(self, operand: Operand | None) -> str:
        """The name of an operand, '' for none; a new constant is made first."""
        match operand:
            case None:
                return ""
            case Read(position):
                return self._read[position]
            case Named(tensor):
                return tensor
            case Made():
                return self._outputs[operand]
        if operand not in self._constants:
            edit = self._constant(operand)
            self._constants[operand] = edit.name
            self._edits.append(edit)
        return self._constants[operand]

    def _constant(
        self, operand: Numbers | Grown | Reshaped
    ) -> NewConstant | GrownConstant | ReshapedConstant:
        as_node, key = self._as_nodes, next_key(self._scope)
        match operand:
            case Numbers(role, dtype, dims, values):
                name = self._names.new(self._stem(role))
                return NewConstant(self._address, name, dtype, dims, values, as_node, key)
            case Grown(source, begins, ends, zero_point, steps):
                origin = self._tensor(source)
                zero = self._tensor(zero_point)
                name = self._names.new(f"{origin}/grown")
                sides = begins, ends
                return GrownConstant(self._address, name, origin, *sides, zero, as_node, key, steps)
            case Reshaped(source, dims, groups):
                origin = self._tensor(source)
                name = self._names.new(f"{origin}/reshaped")
                return ReshapedConstant(self._address, name, origin, dims, as_node, key, groups)

    def _cleanup(self) -> Iterator[Edit]:
        """What the node read and nothing reads any more goes."""
        if self._expansion.itself is None:
            yield RemoveNode(self._address)
            yield from self._parts_gone()
            return
        step = self._expansion.steps[self._expansion.itself]
        for position, _ in step.inputs if isinstance(step, Itself) else ():
            name = self._read[position] if position < len(self._read) else ""
            maker = self._scope.producers.get(name)
            if maker is not None and maker.op_type in ("Pad", "DequantizeLinear"):
                yield RemoveUnused(self.address(maker))
                source = self._scope.producers.get(maker.inputs[0])
                if source is not None and source.op_type == "QuantizeLinear":
                    yield RemoveUnused(self.address(source))
            elif name:
                yield RemoveConstant(self._address, name)

    def _parts_gone(self) -> Iterator[Edit]:
        """Of a compound the nodes in front of the last one, where nothing else reads them."""
        pending = list(self._node.inputs) if self._kept else []
        while pending:
            name = pending.pop()
            maker = self._scope.producers.get(name)
            if maker is not None and name not in self._kept and maker.op_type != "Constant":
                yield RemoveUnused(self.address(maker))
                pending += maker.inputs
