"""A small numpy interpreter of ONNX models, the tests' judge of rewritten graphs.

Imports nothing from onnxpad. Padded operators go to `oracle`, which computes floats in float64 and
rounds once to their type; all others go to onnx's reference, one by one. It is stricter than a
runtime: types, inputs and attributes are held against the schema of the model's opset, and an
operator that it does not know raises NotImplementedError.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx

from tests.oracle.operator_call import STANDARD, Array, Call, check_call, plain
from tests.oracle.padded_kernels import PADDED

Values = dict[str, Array | None]
OLDEST = {"BatchNormalization": 14, "DequantizeLinear": 19}
"""The oldest version that onnx's reference has right; those before it compute the same.

Of older BatchNormalizations with a momentum it computes the training.
"""
UNTRUSTED = ("Col2Im", "DeformConv")
"""Padded operators of onnx's reference that nothing here was held against."""


@dataclass(frozen=True)
class _Scope:
    """What holds for a whole function body or main graph."""

    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str, str], onnx.FunctionProto]
    bindings: Mapping[str, onnx.AttributeProto]


def run_model(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The model's outputs by name, as numpy arrays in their declared types.

    Raises ValueError or TypeError for inputs, attributes or types that do not fit the model, and
    NotImplementedError for an operator or a case that has no kernel here.
    """
    functions = {(_domain(f.domain), f.name, f.overload): f for f in model.functions}
    scope = _Scope(_opsets(model.opset_import), functions, {})
    values: Values = _initializers(model.graph)
    declared = {info.name: info for info in model.graph.input}
    for name, array in inputs.items():
        if name not in declared:
            raise ValueError(f"the model has no input {name!r}, it has {sorted(declared)}")
        values[name] = np.asarray(array)
    for name, info in declared.items():
        _check_input(info, values.get(name))
    outputs = _run_graph(model.graph, scope, values)
    for info, value in zip(model.graph.output, outputs, strict=True):
        _check_type(info, value)
    return {info.name: value for info, value in zip(model.graph.output, outputs, strict=True)}


def _domain(domain: str) -> str:
    return "" if domain in STANDARD else domain


def _opsets(imports: Sequence[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {_domain(entry.domain): entry.version for entry in imports}


def _initializers(graph: onnx.GraphProto) -> Values:
    if graph.sparse_initializer:
        raise NotImplementedError(f"graph {graph.name!r} has sparse initializers")
    return {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}


def _check_type(info: onnx.ValueInfoProto, value: Array) -> None:
    declared = info.type.tensor_type.elem_type
    if declared and value.dtype != onnx.helper.tensor_dtype_to_np_dtype(declared):
        raise TypeError(f"{info.name!r} is {value.dtype}, not what the model declares")


def _check_input(info: onnx.ValueInfoProto, value: Array | None) -> None:
    if value is None:
        raise ValueError(f"input {info.name!r} is missing")
    _check_type(info, value)
    if info.type.tensor_type.HasField("shape"):
        dims = info.type.tensor_type.shape.dim
        sizes = [d.dim_value if d.HasField("dim_value") else None for d in dims]
        fits = [size in (None, held) for size, held in zip(sizes, value.shape, strict=False)]
        if len(sizes) != value.ndim or not all(fits):
            raise ValueError(f"input {info.name!r} is {value.shape}, declared {sizes}")


def _run_graph(graph: onnx.GraphProto, scope: _Scope, outer: Values) -> list[Array]:
    """The graph's outputs; `outer` holds its inputs and, for a body, what it captures."""
    values = {**outer, **_initializers(graph), **{i.name: outer[i.name] for i in graph.input}}
    _run_nodes(graph.node, scope, values)
    return [_held(values, info.name) for info in graph.output]


def _held(values: Values, name: str) -> Array:
    value = values.get(name)
    if value is None:
        raise ValueError(f"{name!r} has no value")
    return value


def _run_nodes(nodes: Sequence[onnx.NodeProto], scope: _Scope, values: Values) -> None:
    for node in nodes:
        missing = [name for name in node.input if name and name not in values]
        if missing:
            raise ValueError(f"{node.op_type} {node.name!r} reads {missing} before it is computed")
        results = _run_node(node, scope, values)
        if len(results) < len([name for name in node.output if name]):
            raise ValueError(f"{node.op_type} {node.name!r} has only {len(results)} outputs")
        values.update((n, r) for n, r in zip(node.output, results, strict=False) if n)


def _run_node(node: onnx.NodeProto, scope: _Scope, values: Values) -> Sequence[Array]:
    domain, bound = _domain(node.domain), _bound_attributes(node, scope)
    inputs = [values[name] if name else None for name in node.input]
    function = scope.functions.get((domain, node.op_type, node.overload))
    if function is not None:
        return _run_function(function, scope, bound, inputs)
    opset = scope.opsets.get(domain)
    if opset is None:
        raise ValueError(f"{node.op_type} {node.name!r}: domain {domain!r} is not imported")
    attributes = {name: _attribute_value(entry) for name, entry in bound.items()}
    call = check_call(Call(node.op_type, domain, opset, node.name, inputs, attributes))
    if (domain, node.op_type) == ("", "If"):
        return _run_if(call, scope, values)
    if (domain, node.op_type) == ("", "Loop"):
        return _run_loop(call, scope, values)
    kernel = PADDED.get((domain, node.op_type))
    with np.errstate(all="ignore"):
        return kernel(call) if kernel else _run_reference(call, bound)


def _run_reference(call: Call, bound: Mapping[str, onnx.AttributeProto]) -> Sequence[Array]:
    with_body = any(entry.HasField("g") for entry in bound.values())
    if call.domain or with_body or call.op in UNTRUSTED or not onnx.defs.has(call.op, call.opset):
        raise NotImplementedError(f"no kernel for {call}")
    names = [str(place) if held is not None else "" for place, held in enumerate(call.inputs)]
    node = onnx.helper.make_node(call.op, names, ["y"])
    node.attribute.extend(bound.values())
    for entry, name in zip(node.attribute, bound, strict=True):
        entry.name = name
    settings = {"log": lambda *_: None, "opsets": {"": call.opset}, "verbose": 0, "new_ops": None}
    made: Sequence[Array] = _reference(call.op, call.opset)(node, settings).run(*call.inputs)
    return made


@cache
def _reference(op: str, opset: int) -> Any:
    """Its class for the operator, loaded late: processes that run one padded node do without."""
    from onnx.reference.ops import load_op

    try:
        return load_op("", op, max(opset, OLDEST.get(op, 0)))
    except (AssertionError, RuntimeError) as error:  # it has a function body alone
        raise NotImplementedError(f"no kernel for {op}") from error


def _bound_attributes(node: onnx.NodeProto, scope: _Scope) -> dict[str, onnx.AttributeProto]:
    """The node's attributes, references to the enclosing function's replaced or dropped."""
    found = {}
    for entry in node.attribute:
        if not entry.ref_attr_name:
            found[entry.name] = entry
        elif entry.ref_attr_name in scope.bindings:
            found[entry.name] = scope.bindings[entry.ref_attr_name]
    return found


def _attribute_value(entry: onnx.AttributeProto) -> Any:
    if entry.type == onnx.AttributeProto.TENSOR:
        return onnx.numpy_helper.to_array(entry.t)
    return plain(onnx.helper.get_attribute_value(entry))


def _run_function(
    function: onnx.FunctionProto,
    scope: _Scope,
    given: dict[str, onnx.AttributeProto],
    inputs: Sequence[Array | None],
) -> list[Array]:
    defaults = {entry.name: entry for entry in function.attribute_proto}
    unknown = set(given) - set(function.attribute) - set(defaults)
    if unknown or len(inputs) > len(function.input):
        raise ValueError(f"function {function.name!r} gets {len(inputs)} inputs, {unknown}")
    inner = _Scope(_opsets(function.opset_import), scope.functions, {**defaults, **given})
    values: Values = dict.fromkeys(function.input)
    values.update(zip(function.input, inputs, strict=False))
    _run_nodes(function.node, inner, values)
    return [_held(values, name) for name in function.output]


def _run_if(call: Call, scope: _Scope, values: Values) -> list[Array]:
    branch = "then_branch" if bool(call.need(0).item()) else "else_branch"
    return _run_graph(call.attributes[branch], scope, values)


def _run_loop(call: Call, scope: _Scope, values: Values) -> list[Array]:
    """Loop with a trip count, a condition or both; scan outputs need at least one trip."""
    body, limit, go = call.attributes["body"], call.optional(0), call.optional(1)
    carried = [call.need(i) for i in range(2, len(call.inputs))]
    scans: list[list[Array]] = [[] for _ in body.output[1 + len(carried) :]]
    trip, running = 0, go is None or bool(go.item())
    while running and (limit is None or trip < limit.item()):
        fed = [np.asarray(trip, np.int64), np.asarray(True), *carried]
        named = {info.name: value for info, value in zip(body.input, fed, strict=True)}
        results = _run_graph(body, scope, {**values, **named})
        running, carried = bool(results[0].item()), results[1 : 1 + len(carried)]
        for scan, result in zip(scans, results[1 + len(carried) :], strict=True):
            scan.append(result)
        trip += 1
    if scans and not trip:
        raise NotImplementedError(f"{call} has scan outputs and no trip")
    return [*carried, *(np.stack(scan) for scan in scans)]
