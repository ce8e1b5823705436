"""The edits that put a chain or an expansion in the place of the node that is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnxpad.errors import InternalError
from onnxpad.geometry.size import stated_names
from onnxpad.model.editing.apply import stored_constant
from onnxpad.model.editing.script import (
    Edit,
    ForgetType,
    InsertNode,
    Names,
    NewConstant,
    RemoveAttribute,
    Resize,
    SetAttribute,
    SetInput,
    SetOutput,
    as_nodes,
    next_key,
    stem,
)
from onnxpad.model.graph.nodes import Address, Node
from onnxpad.model.graph.scopes import address_of
from onnxpad.model.graph.types import dtype_name
from onnxpad.model.reading.crossing import data_position, path_to
from onnxpad.model.reading.survey import Site
from onnxpad.padding.chain import AutoPad, Chain, Mark, NewPad, Pads
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
from onnxpad.padding.operators import (
    Attributes,
    AttributeValue,
    Kind,
    PadInput,
    Since,
    name_of_pads,
)


def emit(site: Site, after: Chain | Expansion, names: Names) -> list[Edit]:
    """Edits that make the node of `site` compute `after`."""
    emitter = _Emitter(site, names)
    if isinstance(after, Chain) and after.op.kind is Kind.PAD and isinstance(after.pad, NewPad):
        after = _repadded(after, after.pad)
    if isinstance(after, Expansion):
        emitter.expand(after)
    else:
        emitter.become(after)
    return emitter.edits


def _repadded(chain: Chain, step: NewPad) -> Expansion:
    """A Pad node with other pads over all axes, another mode and number.

    It is a new one in the place of several nodes that did what a Pad does.
    """
    attributes, numbers = _pad_node(chain, step, chain.dtype, "")
    if chain.reads:
        pad = Step("pad", "Pad", (Named(chain.reads[0]), *numbers), attributes)
        return Expansion((pad,), (Made(0),))
    if chain.opset < Since.PAD_INPUTS:
        return Expansion((Itself((), attributes),), (Made(0),))
    pads, value = [*numbers, None][:2]
    inputs = {PadInput.PADS: pads, PadInput.VALUE: value, PadInput.AXES: None}
    read = tuple(
        (place, one) for place, one in inputs.items() if one or place < len(chain.written.inputs)
    )
    return Expansion((Itself(read, attributes),), (Made(0),))


def _pad_node(
    chain: Chain, step: NewPad, dtype: str, prefix: str
) -> tuple[Attributes, list[Operand]]:
    """The attributes of a Pad, and what it reads behind its data; raises InternalError for none."""
    fill, flat = step.fill, step.pads.flat
    if chain.opset < Since.PAD_INPUTS and isinstance(fill, Constant):
        sets = (("mode", step.mode), (name_of_pads(chain.opset), flat))
        return (*sets, ("value", float(fill.value))), []
    pads = Numbers(f"{prefix}pads", "int64", (len(flat),), flat)
    match fill:
        case Constant(value):
            given = [Numbers(f"{prefix}value", dtype, (), (value,))] if value else []
            return (("mode", step.mode),), [pads, *given]
        case TensorValue(tensor=tensor) if chain.opset >= Since.PAD_INPUTS:
            return (("mode", step.mode),), [pads, Named(tensor)]
    raise InternalError(f"a Pad node of opset {chain.opset} cannot write {fill}")


class _Emitter:
    """Collects the edits of one node, and of what stands in front of it.

    `_front` is the node before which new constants stand, `_outputs` are the names of what the
    steps of an expansion make, `_constants` those of new constants.
    """

    def __init__(self, site: Site, names: Names) -> None:
        self._context, self._node, self._names = site.context, site.node, names
        self._before, self._scope = site.chain, site.context.scope
        self._address = self._front = site.address
        self._read = tuple(site.node.inputs)
        self._constants: dict[Operand, str] = {}
        self._outputs: dict[Made, str] = {}
        self.edits: list[Edit] = []

    def become(self, after: Chain) -> None:
        """Add the edits after which the node is `after`."""
        before = self._before
        self._write_padding(after)
        if Mark.DECLARED_OTHERWISE in before.around.marks - after.around.marks:
            output = self._node.outputs[0]
            sizes = stated_names(self._context.type_of(output).dims)
            self.edits.append(Resize(self._address, output, sizes))
        for name, was, now in (
            ("ceil_mode", before.ceil_mode, after.ceil_mode),
            ("count_include_pad", before.counts_padding, after.counts_padding),
            ("output_shape", before.output_shape, after.output_shape),
            ("output_padding", before.output_padding, after.output_padding),
        ):
            if was and not now:
                self._remove(name)
            if now and now != was:
                self._set(name, 1 if now is True else now)
        if before.around.far_pad and not after.around.far_pad:
            self._pass_far_pad()
        elif before.pad is not None and after.pad is None:
            self._pass_pad()
        elif isinstance(after.pad, NewPad):
            self._add_pad(after, after.pad)

    def _set(self, name: str, value: AttributeValue) -> None:
        self.edits.append(SetAttribute(self._address, name, value))

    def _remove(self, name: str) -> None:
        self.edits.append(RemoveAttribute(self._address, name))

    def _write_padding(self, after: Chain) -> None:
        before, padding = self._before, after.padding
        settled = before.conflict_settled and not after.conflict_settled
        if isinstance(padding, Pads) and (isinstance(before.padding, AutoPad) or settled):
            self._remove("auto_pad")
        if padding == before.padding:
            return
        match padding:
            case Pads():
                self._set("pads", padding.flat)
            case AutoPad():
                if any(attribute.name == "pads" for attribute in self._node.proto.attribute):
                    self._remove("pads")
                self._set("auto_pad", str(padding))
            case _:
                raise InternalError(f"{self._address.label}: a pass made the padding unclear")

    def _at(self, node: Node) -> Address:
        return address_of(self._scope, node)

    def _producer(self, name: str) -> Node:
        return self._scope.producers[name]

    def _pass_pad(self) -> None:
        """Let the node read what its Pad reads."""
        pad = self._producer(self._read[0])
        self.edits.append(SetInput(self._address, 0, pad.inputs[0]))

    def _pass_far_pad(self) -> None:
        """Let the node not read its far Pad.

        The operators on the way are led past the Pad where only this node reads them, and copied
        where others do.
        """
        way = path_to(self._context, self._read[0])
        _, lead = self._route(way.nodes)
        self.edits += lead(self._producer(way.source).inputs[0])

    def _add_pad(self, after: Chain, step: NewPad) -> None:
        """Add a Pad in front of the node, or in front of the conversions that stand there."""
        replaced = self._producer(self._read[0]) if step.instead else None
        around = after.around.dequantised
        conversions = around.steps if around and not replaced else ()
        way: list[Node] = []
        for _ in conversions:
            way.insert(0, self._producer([*way, self._node][0].inputs[0]))
        self._front, lead = self._route(way)
        data = (replaced or [*way, self._node][0]).inputs[0]
        output = self._names.new(self._called("pad_output"))
        dtype = conversions[0].dtype if conversions else after.dtype
        attributes, numbers = _pad_node(after, step, dtype, "pad_")
        pad = Step("pad", "Pad", (Named(data), *numbers), attributes)
        self._insert(pad, (output,), self._front)
        self.edits += lead(output)

    def _route(self, way: Sequence[Node]) -> tuple[Address, Callable[[str], list[Edit]]]:
        """How the node gets its input through the operators of `way` from another tensor.

        Operators that others read too are copied, the others change in place. The first result is
        where that tensor must stand in front of; the second gives the edits for its name.
        """
        shared = [place for place, one in enumerate(way) if self._scope.uses[one.outputs[0]] > 1]
        count = shared[-1] + 1 if shared else 0
        anchor = [*way, self._node][count]

        def lead(source: str) -> list[Edit]:
            edits: list[Edit] = []
            for one in way[:count]:
                edits.append(copy := self._copy_of(one, anchor, source))
                source = copy.outputs[0]
            changed = [*way[count:], self._node]
            position = data_position(self._context, changed[0]) if len(changed) > 1 else 0
            edits.append(SetInput(self._at(changed[0]), position, source))
            return edits + [ForgetType(self._at(one), one.outputs[0]) for one in changed[:-1]]

        return self._at(anchor), lead

    def _copy_of(self, one: Node, before: Node, source: str) -> InsertNode:
        """The edit that makes a copy of `one` that reads `source`."""
        name = self._names.new(self._called(stem(one)))
        inputs = list(one.inputs)
        inputs[data_position(self._context, one)] = source
        attributes = tuple(
            (written, tuple(map(int, value)) if isinstance(value, tuple) else value)
            for written, value in self._context.attributes(one).items()
        )
        outputs = (self._names.new(f"{name}_output"),)
        address, key = self._at(before), next_key(self._scope)
        return InsertNode(
            address, key, one.op_type, name, tuple(inputs), outputs, attributes, one.domain
        )

    def expand(self, expansion: Expansion) -> None:
        """Add the edits that let the steps of an expansion compute what the node computes."""
        itself, anchor = expansion.itself, self._address
        self._name_outputs(expansion)
        for index, step in enumerate(expansion.steps):
            if isinstance(step, Itself):
                self._change(step, index)
                continue
            behind = itself is not None and index > itself
            outputs = tuple(self._outputs[Made(index, at)] for at in range(step.outputs))
            insert = self._insert(step, outputs, anchor, behind=behind)
            if behind:
                anchor = insert.address

    def _called(self, role: str) -> str:
        return f"{stem(self._node)}/{role}"

    def _name_outputs(self, expansion: Expansion) -> None:
        """The node's own names go to the results, everything else gets a new name."""
        written = list(self._node.outputs)
        for made, name in zip(expansion.results, written, strict=False):
            if name:
                if made in self._outputs:
                    raise InternalError(f"{self._address.label}: one result for two outputs")
                self._outputs[made] = name
        for index, step in enumerate(expansion.steps):
            if isinstance(step, Itself):
                named = ((at, name) for at, name in enumerate(written) if name)
                wanted = {at: self._called(f"{name}_inner") for at, name in named}
            else:
                stemmed = self._called(f"{step.role}_output")
                wanted = {at: f"{stemmed}{at or ''}" for at in range(step.outputs)}
            for at, name in wanted.items():
                if (made := Made(index, at)) not in self._outputs:
                    self._outputs[made] = self._names.new(name)

    def _change(self, step: Itself, index: int) -> None:
        for name in step.removes:
            self._remove(name)
        for name, value in step.sets:
            self._set(name, value)
        for position, operand in step.inputs:
            tensor = self._tensor(operand)
            self.edits.append(SetInput(self._address, position, tensor))
        for position, name in enumerate(self._node.outputs):
            result = self._outputs[Made(index, position)] if name else name
            if result != name:
                self.edits.append(SetOutput(self._address, position, result))

    def _insert(
        self, step: Step, outputs: tuple[str, ...], anchor: Address, *, behind: bool = False
    ) -> InsertNode:
        inputs = tuple(map(self._tensor, step.inputs))
        key, name = next_key(self._scope), self._names.new(self._called(step.role))
        attributes, domain = step.attributes, step.domain
        insert = InsertNode(
            anchor, key, step.op_type, name, inputs, outputs, attributes, domain, behind
        )
        self.edits.append(insert)
        return insert

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
            self.edits.append(edit)
        return self._constants[operand]

    def _constant(self, operand: Numbers | Grown | Reshaped) -> NewConstant:
        front, as_node, key = self._front, as_nodes(self._context), next_key(self._scope)
        if isinstance(operand, Numbers):
            name = self._names.new(self._called(operand.role))
            return NewConstant(front, name, *operand[1:], as_node, key)
        origin = self._tensor(operand.source)
        stored = stored_constant(self._scope, origin)
        dtype, sizes = dtype_name(stored.data_type), tuple(stored.dims)
        if isinstance(operand, Reshaped):
            name = self._names.new(f"{origin}/reshaped")
            made = NewConstant(front, name, dtype, operand.dims, (), as_node, key)
            return made._replace(source=origin, groups=operand.groups)
        name, zero = self._names.new(f"{origin}/grown"), self._tensor(operand.zero_point)
        steps = operand.steps or (1,) * len(operand.begins)
        axes = zip(operand.begins, sizes, operand.ends, steps, strict=True)
        dims = tuple(begin + (size - 1) * step + 1 + end for begin, size, end, step in axes)
        made = NewConstant(front, name, dtype, dims, (), as_node, key, origin, 0)
        return made._replace(begins=operand.begins, steps=steps, zero_point=zero)
