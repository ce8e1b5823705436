"""What callers of two models see of them: names, order and types of what goes in and comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from onnxpad.errors import RequestError, few, together
from onnxpad.geometry.size import show
from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import renamed
from onnxpad.model.graph.types import Type
from onnxpad.padding.chain import contradict
from onnxpad.validation.report import ProofReport
from onnxpad.validation.request import quoted

_FEW = 4


def matched(warn: Callable[[str], None], before: Network, after: Network) -> Network:
    """The second model under the first one's names of inputs and outputs.

    Where names differ but the numbers agree, they are matched by position, with a warning. Raises
    RequestError where the numbers differ.
    """
    mapping: dict[str, str] = {}
    for kind, ours, theirs in _listed(before, after):
        if set(ours) == set(theirs):
            continue
        if len(ours) != len(theirs):
            raise RequestError(
                f"the models cannot be compared: {kind} {quoted(ours)} against {quoted(theirs)}"
            )
        warn(f"{kind} have other names and are matched by position: {quoted(theirs)}")
        mapping |= dict(zip(theirs, ours, strict=True))
    return renamed(after, mapping) if mapping else after


def joint_types(before: Mapping[str, Type], after: Mapping[str, Type]) -> dict[str, Type]:
    """Types that fit both models: a size that one of them fixes holds for both.

    Raises RequestError where element types, ranks or fixed sizes contradict each other.
    """
    joint = {}
    for name, first in before.items():
        second = after[name]
        if first.dtype != second.dtype:
            raise _unequal(name, first.dtype or "unknown", second.dtype or "unknown")
        if contradict(first.dims, second.dims):
            raise _unequal(name, _sizes(first), _sizes(second))
        dims = second.dims if first.dims is None else first.dims
        if first.dims is not None and second.dims is not None:
            pairs = zip(first.dims, second.dims, strict=True)
            dims = tuple(b if isinstance(b, int) else a for a, b in pairs)
        joint[name] = Type(first.dtype, dims)
    return joint


def _unequal(name: str, first: str, second: str) -> RequestError:
    return RequestError(f"input '{name}' is {first} in the first model and {second} in the second")


def broken(before: Network, after: Network) -> str:
    """What a caller of the first model gets wrong from the second, matched one; '' if nothing.

    A caller may give and take tensors by position (onnxruntime's `get_inputs()`, C API, most
    deployment runtimes), so another order is another model. So is another type of an output.
    """
    for kind, ours, theirs in _listed(before, after):
        if ours != theirs:
            return (
                f"the {kind} stand in another order, {quoted(ours)} in the first model and "
                f"{quoted(theirs)} in the second: a caller by position gets something else"
            )
    first, second = before.stated_types(), after.stated_types()
    for name in before.outputs:
        kinds = first[name].dtype, second[name].dtype
        if all(kinds) and kinds[0] != kinds[1]:
            return f"output '{name}' is {kinds[0]} in the first model and {kinds[1]} in the second"
    return ""


def told_otherwise(before: Network, after: Network) -> Iterator[str]:
    """Warnings about what callers of the first model may do, or rely on, and not of the second.

    Since IR version 4 an initializer that is listed among the inputs is a default value (ONNX IR,
    Graphs); before, every initializer had to be listed there.
    """
    lost = [name for name in before.replaceable if name not in after.replaceable]
    if lost:
        given = few([f"'{name}'" for name in lost], _FEW)
        yield (
            f"callers of the first model may give {given} in place of its initializer; the second "
            "model does not take that"
        )
    first, second = before.stated_types(), after.stated_types()
    for name in before.outputs:
        if contradict(first[name].dims, second[name].dims):
            yield (
                f"output '{name}' is declared as {_sizes(first[name])} in the first model and as "
                f"{_sizes(second[name])} in the second: what callers are told of it changes"
            )


def untried(
    before: Network, after: Network, types: Mapping[str, Type], proof: ProofReport | None
) -> str:
    """A warning where equal results of samples say little, '' where they do not."""
    names = [f"'{name}'" for name in before.replaceable if name in after.replaceable]
    opened = [
        f"'{name}'"
        for name, type_ in types.items()
        if not all(isinstance(size, int) for size in type_.dims or ())
    ]
    beyond = [f"values that callers give in place of {few(names, _FEW)}"] if names else []
    beyond += [f"other sizes of {few(opened, _FEW)}"] if opened and proof is not None else []
    if proof is not None and proof.is_formal:
        beyond.append(f"other inputs ({proof.reason})")
    warning = "nothing is proved, and the models may differ beyond the samples: for"
    return f"{warning} {together(beyond)}" if beyond else ""


def _listed(
    before: Network, after: Network
) -> tuple[tuple[str, Sequence[str], Sequence[str]], ...]:
    return ("inputs", before.fed, after.fed), ("outputs", before.outputs, after.outputs)


def _sizes(type_: Type) -> str:
    return f"[{', '.join(show(size) for size in type_.dims or ())}]"
