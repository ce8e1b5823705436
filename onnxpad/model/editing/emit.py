"""The edits that put a chain or an expansion in the place of the node that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from onnxpad.errors import InternalError
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
    SetAttribute,
    SetInput,
    SetOutput,
)
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Address, Node
from onnxpad.model.graph.scopes import Scope, address_of
from onnxpad.model.reading.crossing import data_position, path_to
from onnxpad.model.reading.nearest_pad import row_of_pads
from onnxpad.model.reading.survey import Site
from onnxpad.padding.chain import AutoPad, Chain, Dequantised, NewPad, Pads, PadStep
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
    context, node, address, before = site.context, site.node, site.address, site.chain
    if isinstance(after, Expansion):
        return _expand(context, node, after, names)
    if after.op.kind is Kind.PAD and isinstance(after.pad, NewPad):
        return _expand(context, node, _repadded(after, after.pad), names)
    edits = [*_padding_edits(node, address, before, after), *_number_edits(address, before, after)]
    if before.far_pad is not None and after.far_pad is None:
        edits += _bypass(context, node, before, names, far=True)
    elif before.pad is not None and after.pad is None:
        edits += _bypass(context, node, before, names, far=False)
    elif isinstance(after.pad, NewPad):
        edits += _new_pad(context, node, address, after, after.pad, names)
    return edits


def _repadded(chain: Chain, step: NewPad) -> Expansion:
    """A Pad node with other pads over all axes, another mode and number."""
    value = step.fill.value if isinstance(step.fill, Constant) else 0
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


def _bypass(context: Context, node: Node, chain: Chain, names: Names, *, far: bool) -> list[Edit]:
    """Edits after which `node`, read as `chain`, reads what its Pad read.

    `far` is about `chain.far_pad`: the operators on the way are led past the Pad where only
    this node reads them, and copied where others do.
    """
    scope = context.scope
    address = address_of(scope, node)
    if far and chain.pad is None:
        return _through(context, node, names)
    name = node.inputs[0]
    row = row_of_pads(context, name, chain.tensor_rank) if far else None
    source = scope.producers[name].inputs[0] if row is None else row.source
    gone = []
    while name != source:
        maker = scope.producers[name]
        gone.append(RemoveUnused(address_of(scope, maker)))
        if scope.uses.get(name, 0) > 1:
            break
        name = maker.inputs[0]
    return [SetInput(address, 0, source), *gone]


def _through(context: Context, node: Node, names: Names) -> list[Edit]:
    scope, way = context.scope, path_to(context, node.inputs[0])
    pad = scope.producers[way.source]
    _, led = _route(context, way.nodes, node, names)
    return [*led(pad.inputs[0]), RemoveUnused(address_of(scope, pad))]


def _new_pad(
    context: Context, node: Node, address: Address, chain: Chain, step: NewPad, names: Names
) -> list[Edit]:
    """A Pad in front of the node, or in front of the conversions that stand there."""
    replaced = context.scope.producers[node.inputs[0]] if step.instead else None
    dequantised = None if replaced is not None else chain.around.dequantised
    way = _conversions(context.scope, node, dequantised)
    anchor, led = _route(context, way, node, names)
    data = (replaced or [*way, node][0]).inputs[0]
    dtype = dequantised.steps[0].dtype if dequantised else chain.dtype
    new = f"{stem(node)}/pad"
    name = names.new(new)
    output = names.new(f"{new}_output")
    key = next_key(context.scope)
    if chain.opset < Since.PAD_INPUTS:
        if not isinstance(step.fill, Constant):
            raise InternalError(
                f"{address.label}: Pad of opset {chain.opset} takes no tensor value"
            )
        attributes: list[tuple[str, AttributeValue]] = [
            ("mode", step.mode),
            (name_of_pads(chain.opset), step.pads.flat),
            ("value", float(step.fill.value)),
        ]
        more: tuple[str, ...] = ()
        edits: list[Edit] = []
    else:
        attributes = [("mode", step.mode)]
        more, edits = _pad_inputs(context, node, anchor, step, dtype, names)
    insert = InsertNode(anchor, key, "Pad", name, (data, *more), (output,), tuple(attributes))
    gone = [RemoveUnused(address_of(context.scope, replaced))] if replaced is not None else []
    return [*edits, insert, *led(output), *gone]


def _conversions(scope: Scope, node: Node, dequantised: Dequantised | None) -> list[Node]:
    found: list[Node] = []
    for _ in dequantised.steps if dequantised else ():
        found.insert(0, scope.producers[(found[0] if found else node).inputs[0]])
    return found


def _pad_inputs(
    context: Context, node: Node, anchor: Address, step: PadStep, dtype: str, names: Names
) -> tuple[tuple[str, ...], list[Edit]]:
    as_node = as_nodes(context)
    new = f"{stem(node)}/pad"
    pads = names.new(f"{new}_pads")
    keys = (next_key(context.scope), next_key(context.scope))
    flat = step.pads.flat
    edits: list[Edit] = [NewConstant(anchor, pads, "int64", (len(flat),), flat, as_node, keys[0])]
    if isinstance(step.fill, TensorValue):
        return (pads, step.fill.tensor), edits
    if not isinstance(step.fill, Constant):
        raise InternalError(f"{anchor.label}: a Pad node cannot write {step.fill}")
    if step.fill.value == 0:
        return (pads,), edits
    value = names.new(f"{new}_value")
    edits.append(NewConstant(anchor, value, dtype, (), (step.fill.value,), as_node, keys[1]))
    return (pads, value), edits


def _route(
    context: Context, way: Sequence[Node], node: Node, names: Names
) -> tuple[Address, Callable[[str], list[Edit]]]:
    """How `node` gets its input through the operators of `way` from another tensor.

    Operators that others read too are copied, the others change in place. The first result is
    where that tensor must stand in front of; the second gives the edits for its name.
    """
    scope = context.scope
    shared = [index for index, one in enumerate(way) if scope.uses[one.outputs[0]] > 1]
    count = shared[-1] + 1 if shared else 0
    anchor = address_of(scope, [*way, node][count])

    def led(source: str) -> list[Edit]:
        copies = max(count, len(list(_made_before(context, way, node, source, names))))
        edits: list[Edit] = []
        kept = [*way[copies:], node]
        for one in way[:copies]:
            source, made = _copy_of(context, one, kept[0], node, source, names)
            edits += made
        position = data_position(context, kept[0]) if len(kept) > 1 else 0
        edits.append(SetInput(address_of(scope, kept[0]), position, source))
        edits += [ForgetType(address_of(scope, one), one.outputs[0]) for one in kept[:-1]]
        return edits + [RemoveUnused(address_of(scope, one)) for one in reversed(way[:copies])]

    return anchor, led


def _made_before(
    context: Context, way: Sequence[Node], node: Node, source: str, names: Names
) -> Iterator[str]:
    """The outputs of copies of the first operators of `way` that there are already."""
    for one in way:
        source = _copied(context, one, node, source, names)
        if not source:
            return
        yield source


def _copy_of(
    context: Context, one: Node, before: Node, node: Node, source: str, names: Names
) -> tuple[str, list[Edit]]:
    """The output of a copy of `one` that reads `source`, and the edit that makes it.

    A copy that was made before serves again where it stands somewhere in front of `before`.
    """
    scope = context.scope
    if known := _copied(context, one, before, source, names):
        return known, []
    name = names.new(f"{stem(node)}/{stem(one)}")
    output = names.new(f"{name}_output")
    inputs = list(one.inputs)
    inputs[data_position(context, one)] = source
    attributes: list[tuple[str, AttributeValue]] = []
    for written, value in context.attributes(one).items():
        match value:
            case int() | float() | str():
                attributes.append((written, value))
            case tuple():
                attributes.append((written, tuple([int(number) for number in value])))
    names.copies[scope.id, one.key, source] = output
    insert = InsertNode(
        address_of(scope, before),
        next_key(scope),
        one.op_type,
        name,
        tuple(inputs),
        (output,),
        tuple(attributes),
        one.domain,
    )
    return output, [insert]


def _copied(context: Context, one: Node, before: Node, source: str, names: Names) -> str:
    """The output of a copy of `one` that reads `source` in front of `before`, '' without one."""
    output = names.copies.get((context.scope.id, one.key, source), "")
    known = context.scope.producers.get(output)
    if known is None or source not in known.inputs:
        return ""
    return output if context.scope.stands_before(known, before) else ""


def _expand(context: Context, node: Node, expansion: Expansion, names: Names) -> list[Edit]:
    """Edits that let the steps of `expansion` compute what `node` computes."""
    return list(_Expander(context, node, expansion, names).edits())


class _Expander:
    def __init__(self, context: Context, node: Node, expansion: Expansion, names: Names) -> None:
        self._context = context
        self._node = node
        self._address = address_of(context.scope, node)
        self._expansion = expansion
        self._names = names
        self._read = tuple(node.inputs)
        self._constants: dict[Operand, str] = {}
        self._outputs: dict[Made, str] = {}

    def edits(self) -> Iterator[Edit]:
        expansion, itself = self._expansion, self._expansion.itself
        self._name_outputs()
        anchor = self._address
        for index, step in enumerate(expansion.steps):
            if isinstance(step, Itself):
                yield from self._change(step, index)
                continue
            behind = itself is not None and index > itself
            insert, constants = self._insertion(step, index, anchor, behind=behind)
            yield from constants
            yield insert
            if behind:
                anchor = insert.address
        yield from self._cleanup()

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

    def _change(self, step: Itself, index: int) -> Iterator[Edit]:
        for name in step.removes:
            yield RemoveAttribute(self._address, name)
        for name, value in step.sets:
            yield SetAttribute(self._address, name, value)
        for position, operand in step.inputs:
            tensor, constants = ("", []) if operand is None else self._tensor(operand)
            yield from constants
            yield SetInput(self._address, position, tensor)
        for position, name in enumerate(self._node.outputs):
            if name and self._outputs[Made(index, position)] != name:
                yield SetOutput(self._address, position, self._outputs[Made(index, position)])

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
                return NewConstant(self._address, name, dtype, dims, values, as_node, key)
            case Grown(source, begins, ends, zero_point, steps):
                origin = self._tensor(source)[0]
                zero = self._tensor(zero_point)[0] if zero_point else ""
                name = self._names.new(f"{origin}/grown")
                sides = begins, ends
                return GrownConstant(self._address, name, origin, *sides, zero, as_node, key, steps)
            case Reshaped(source, dims):
                origin = self._tensor(source)[0]
                name = self._names.new(f"{origin}/reshaped")
                return ReshapedConstant(self._address, name, origin, dims, as_node, key)

    def _cleanup(self) -> Iterator[Edit]:
        """What the node read and nothing reads any more goes."""
        if self._expansion.itself is None:
            yield RemoveNode(self._address)
            return
        step = self._expansion.steps[self._expansion.itself]
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
                yield RemoveConstant(self._address, name)
