"""The largest sizes that tensors have where inputs are at most so large.

One look tells of all smaller inputs: every rule gives no less than what any of them leads to, and
sizes that the file only declares do not count. An operator without a rule ends the look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, numpy_helper

from onnxpad.geometry.cuts import cells_of_cut
from onnxpad.model.shapes.inference_bounds import FOLLOWED, LARGEST_STEP, MOST_VALUES
from onnxpad.padding.operators import PLAIN_DOMAINS

Dims = tuple[int, ...]
MOST_NODES = 2_000
"""Looking through more nodes takes longer than starting a child."""
WIDTH = 8
"""Bytes of a cell at most; tensors of wider ones, and of texts, have no bound here."""
_WIDER = {
    *(TensorProto.UNDEFINED, TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.COMPLEX128),
}
_FOLLOWED_TYPES = {TensorProto.INT32, TensorProto.INT64}
_FEW = 64
_FITTING = 2**31 - 1
_FAR = 2**30
_EXACT = 2**24
"""Whole numbers up to here are exact in float32."""


_DAMAGED = (IndexError, ValueError, TypeError, ArithmeticError, RecursionError)
"""What rules raise where a node has not what its operator asks for."""


class NoBoundError(Exception):
    """Nothing is known of a size here."""


class Numbers(NamedTuple):
    """The least and the largest values of whole numbers; `fit`: int32 holds them."""

    least: NDArray[Any]
    most: NDArray[Any]
    fit: bool

    @property
    def exact(self) -> list[int] | None:
        """The numbers themselves where there are no others."""
        most: list[int] = self.most.ravel().tolist()
        return most if self.least is self.most or self.least.ravel().tolist() == most else None


class Made(NamedTuple):
    """What a node writes, and what its bodies make."""

    facts: Facts
    wrote: list[Dims]
    bodies: list[list[Made]]


class Largest:
    """The sizes of one graph's tensors; raises NoBoundError in `made` where one has no bound."""

    def __init__(self, graph: GraphProto, known: Mapping[str, Dims], outer: Largest | None) -> None:
        self._graph = graph
        self._outer = outer
        self._dims = dict(known)
        self._given = set(known)
        self._filled = {name for name, dims in known.items() if 0 not in dims}
        self._passed: list[Facts] = []
        self._nodes = 0
        self._numbers: dict[str, Numbers | None] = {}
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}

    def made(self) -> list[Made]:
        """What every node makes, in the order of the graph."""
        self._count(len(self._graph.node))
        try:
            return list(self._walk())
        except _DAMAGED as error:
            raise NoBoundError from error
        finally:
            self._passed.clear()

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES or self._graph.sparse_initializer:
            raise NoBoundError
        if self._outer is not None:
            self._outer._count(nodes)  # noqa: SLF001 - another of this kind

    def _walk(self) -> Iterator[Made]:
        known = self._dims
        for node in self._graph.node:
            kind = node.op_type
            if node.domain not in PLAIN_DOMAINS:
                raise NoBoundError
            if kind == "Constant":
                self._hold(node)
                continue
            names = list(node.input)
            dims = [known.get(name) or self.dims(name) for name in names if name]
            facts = Facts(self, node, names, dims)
            bodies: list[list[Made]] = []
            is_followed = kind == "Shape" or (kind in _FOLLOWING and self.numbers(names[0]))
            wrote = self._follow(facts) if is_followed else []
            if not wrote:
                inside = list(self._bodies(facts)) if kind == "If" else []
                bodies = [made for _, made in inside]
                wrote = self._sizes(facts, [sizes for sizes, _ in inside])
            known.update(zip(node.output, wrote, strict=True))
            self._passed.append(facts)
            yield Made(facts, wrote, bodies)

    def _sizes(self, facts: Facts, branches: Sequence[Sequence[Dims]]) -> list[Dims]:
        kind = facts.node.op_type
        if kind == "If":
            found: Dims | list[Dims] = _joined(*branches)
        elif kind in _RULES:
            found = _RULES[kind](facts)
        else:
            raise NoBoundError
        wrote = found if isinstance(found, list) else [found] * len(facts.node.output)
        for dims in wrote:
            if dims and min(dims) < 0:
                raise NoBoundError
        if kind in FOLLOWED:
            _refuse_many_values([*facts.dims, *wrote])
        return wrote

    def _follow(self, facts: Facts) -> list[Dims]:
        """Take up bounds of the few numbers that a node makes of others; nothing without them."""
        found = None
        with suppress(NoBoundError):  # of numbers: there may be one of sizes
            found = _FOLLOWING[facts.node.op_type](facts)
        made = [found] if isinstance(found, Numbers) else found or []
        shapes = [one.most.shape for one in made]
        if max(map(prod, shapes), default=_FEW) > _FEW or len(made) != len(facts.node.output):
            return []
        self._numbers.update(zip(facts.node.output, made, strict=True))
        return shapes

    def is_filled(self, name: str) -> bool:
        """Whether a tensor surely has cells, whatever the sizes of the inputs are."""
        for facts in self._passed:
            is_kernel = facts.node.op_type in _KERNELS
            fills = is_kernel or facts.node.op_type in _FILLING
            if fills and all(map(self._has_cells, filter(None, facts.names))):
                self._filled.update(facts.node.output if not is_kernel or _covers(facts) else ())
        self._passed.clear()
        return self._has_cells(name)

    def _has_cells(self, name: str) -> bool:
        tensor = None if name in self._filled else self.tensor(name)
        return name in self._filled or (tensor is not None and 0 not in tensor.dims)

    def dims(self, name: str) -> Dims:
        """The largest sizes of a tensor."""
        found = self._dims.get(name)
        if found is None:
            tensor = self._tensors.get(name)
            if tensor is None:
                if self._outer is None:
                    raise NoBoundError
                return self._outer.dims(name)
            found = self._dims[name] = tuple(tensor.dims)
            if tensor.data_type in _WIDER or min(found, default=0) < 0:
                raise NoBoundError
        return found

    def numbers(self, name: str) -> Numbers | None:
        """Bounds of the whole numbers in a small tensor, None where there are none."""
        if name in self._numbers:
            return self._numbers[name]
        if name in self._given:
            return None
        tensor = self._tensors.get(name)
        if tensor is None:
            inside = name in self._dims or self._outer is None
            return None if inside or self._outer is None else self._outer.numbers(name)
        array = constant(tensor) if tensor.data_type in _FOLLOWED_TYPES else None
        if array is None:
            self._numbers[name] = None
        else:
            array = array.astype(np.int64)
            self._numbers[name] = _bounded(array, array)
        return self._numbers[name]

    def tensor(self, name: str) -> TensorProto | None:
        """An initializer that no input takes the place of, or what a Constant holds."""
        if name in self._given:
            return None
        if name in self._tensors or self._outer is None or name in self._dims:
            return self._tensors.get(name)
        return self._outer.tensor(name)

    def _hold(self, node: NodeProto) -> None:
        (held,) = node.attribute
        (name,) = node.output
        if held.name == "value":
            tensor = held.t
        elif held.name in ("value_int", "value_ints"):
            values = held.i if held.name == "value_int" else list(held.ints)
            tensor = numpy_helper.from_array(np.asarray(values, np.int64))
        elif held.name in ("value_float", "value_floats"):
            numbers = held.f if held.name == "value_float" else list(held.floats)
            tensor = numpy_helper.from_array(np.asarray(numbers, np.float32))
        else:
            raise NoBoundError
        if held.ref_attr_name or name in self._dims or name in self._tensors:
            raise NoBoundError
        self._tensors[name] = tensor
        self.dims(name)

    def _bodies(self, facts: Facts) -> Iterator[tuple[list[Dims], list[Made]]]:
        for attribute in facts.attributes.values():
            graph = attribute.g
            if attribute.type != AttributeProto.GRAPH or graph.input:
                raise NoBoundError
            inner = Largest(graph, {}, self)
            made = inner.made()
            yield [inner.dims(value.name) for value in graph.output], made


class Facts:
    """What a rule may ask about its node; `dims` are of those inputs (`names`) that are there."""

    __slots__ = ("_attributes", "dims", "names", "node", "scope")

    def __init__(self, scope: Largest, node: NodeProto, names: list[str], dims: list[Dims]) -> None:
        self.scope, self.node, self.names, self.dims = scope, node, names, dims
        self._attributes: dict[str, AttributeProto] | None = None

    @property
    def attributes(self) -> dict[str, AttributeProto]:
        """The attributes by name."""
        if self._attributes is None:
            self._attributes = {one.name: one for one in self.node.attribute}
        return self._attributes

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute."""
        return self.attributes[name].i if name in self.attributes else default

    def integers(self, name: str, default: Sequence[int] = ()) -> list[int]:
        """An attribute."""
        return list(self.attributes[name].ints if name in self.attributes else default)

    def text(self, name: str) -> str:
        """An attribute."""
        return self.attributes[name].s.decode() if name in self.attributes else ""

    def name(self, position: int) -> str:
        """The name of an input, '' where it is left out."""
        return self.names[position] if position < len(self.names) else ""

    def numbers(self, position: int) -> Numbers | None:
        """Whole numbers at an input."""
        name = self.name(position)
        return self.scope.numbers(name) if name else None

    def exact(self, attribute: str, position: int) -> list[int] | None:
        """Numbers that an attribute or input says; None where neither is there."""
        if attribute in self.attributes:
            return list(self.attributes[attribute].ints)
        return _exact(self.numbers(position)) if self.name(position) else None

    def most(self, position: int) -> list[int]:
        """The largest values of numbers at an input."""
        found = self.numbers(position)
        if found is None:
            raise NoBoundError
        values: list[int] = found.most.ravel().tolist()
        return values


Rule = Callable[[Facts], Dims | list[Dims]]
Following = Callable[[Facts], Numbers | list[Numbers] | None]


def constant(tensor: TensorProto) -> NDArray[Any] | None:
    """The values of a small constant that lies in the file."""
    if prod(tensor.dims) > _FEW or tensor.data_location == TensorProto.EXTERNAL:
        return None
    return numpy_helper.to_array(tensor)


def _bounded(least: NDArray[Any], most: NDArray[Any]) -> Numbers:
    fit = max(most.ravel().tolist(), default=0) <= _FITTING
    fit = fit and min(least.ravel().tolist(), default=0) >= -_FITTING
    return Numbers(least, most, fit)


def _exact(numbers: Numbers | None) -> list[int]:
    found = None if numbers is None else numbers.exact
    if found is None:
        raise NoBoundError
    return found


def _refuse_many_values(shapes: Sequence[Dims]) -> None:
    """Inference, which opening a model begins with, follows the values of one axis."""
    if any(len(dims) <= 1 and prod(dims) > MOST_VALUES for dims in shapes):
        raise NoBoundError


def _joined(first: Sequence[Dims], second: Sequence[Dims]) -> list[Dims]:
    """What an If may give, whichever branch is taken."""
    return [_larger(one, other) for one, other in zip(first, second, strict=True)]


def _larger(one: Dims, other: Dims) -> Dims:
    if len(one) != len(other):
        raise NoBoundError
    return tuple(map(max, one, other))


def _one(facts: Facts) -> None:
    """Refuse a node that writes more than one tensor."""
    if len(facts.node.output) != 1:
        raise NoBoundError


def _keep(facts: Facts) -> Dims:
    _one(facts)
    return facts.dims[0]


def _broadcast(facts: Facts) -> Dims:
    _one(facts)
    return _together(facts.dims)


def _together(shapes: Sequence[Dims]) -> Dims:
    if len(shapes) == 2 and shapes[0] == shapes[1]:
        return shapes[0]
    columns = zip_longest(*(reversed(dims) for dims in shapes), fillvalue=1)
    return tuple(max(column) for column in columns)[::-1]


def _windows(facts: Facts, axes: Sequence[int], kernel: Sequence[int]) -> list[int]:
    """How many windows lie on each axis (Conv-11, MaxPool-12)."""
    count, ones = len(axes), (1,) * len(axes)
    strides, dilations = facts.integers("strides", ones), facts.integers("dilations", ones)
    how, up = facts.text("auto_pad"), facts.integer("ceil_mode")
    pads = [] if how == "VALID" else facts.integers("pads")
    pads = pads or [0] * 2 * count
    if not len(strides) == len(dilations) == len(kernel) == count == len(pads) // 2:
        raise NoBoundError
    if min(*strides, *dilations, *kernel, 1) < 1:
        raise NoBoundError
    if how.startswith("SAME"):
        return [-(-size // stride) for size, stride in zip(axes, strides, strict=True)]
    sizes = []
    for axis, stride in enumerate(strides):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        room = axes[axis] + pads[axis] + pads[axis + count] - reach
        sizes.append((room + stride - 1 if up else room) // stride + 1)
    return sizes


def _convolution(facts: Facts) -> Dims:
    _one(facts)
    source, weights = facts.dims[:2]
    # Of a kernel that is computed no least size is known, but where the node says it.
    is_held = facts.scope.tensor(facts.names[1]) is not None
    kernel = weights[2:] if is_held else facts.integers("kernel_shape", (1,) * len(weights[2:]))
    return source[0], weights[0], *_windows(facts, source[2:], kernel)


def _covers(facts: Facts) -> bool:
    """Whether the kernel finds a place on an axis of one cell, and all the more on others."""
    weights = facts.dims[1][2:]
    dilations = facts.integers("dilations", (1,) * len(weights))
    pads = facts.integers("pads", (0,) * 2 * len(weights))
    if facts.node.op_type == "ConvTranspose":
        return not any(pads)
    together = zip(pads, pads[len(weights) :], strict=False)
    needed = zip(weights, dilations, together, strict=True)
    return facts.text("auto_pad").startswith("SAME") or (
        not facts.text("auto_pad").startswith("VALID")
        and all((taps - 1) * step <= sum(both) for taps, step, both in needed)
    )


def _transposed(facts: Facts) -> Dims:
    _one(facts)
    source, weights = facts.dims[:2]
    axes, kernel, count = source[2:], weights[2:], len(source) - 2
    ones, zeros = (1,) * count, (0,) * count
    strides, dilations = facts.integers("strides", ones), facts.integers("dilations", ones)
    more = facts.integers("output_padding", zeros)
    if min(*strides, *dilations, *more, 1) < 0 or "output_shape" in facts.attributes:
        raise NoBoundError
    pads = facts.integers("pads", zeros * 2) if not facts.text("auto_pad") else [0] * 2 * count
    if len(pads) != 2 * count:
        raise NoBoundError
    sizes = (
        max(size - 1, 0) * stride + extra + (taps - 1) * dilation + 1 - begin - end
        for size, stride, extra, taps, dilation, begin, end in zip(
            axes, strides, more, kernel, dilations, pads[:count], pads[count:], strict=True
        )
    )
    return source[0], weights[1] * facts.integer("group", 1), *sizes


def _pool(facts: Facts) -> Dims:
    source = facts.dims[0]
    return *source[:2], *_windows(facts, source[2:], facts.integers("kernel_shape"))


def _global_pool(facts: Facts) -> Dims:
    source = facts.dims[0]
    return *source[:2], *(1,) * len(source[2:])


def _gemm(facts: Facts) -> Dims:
    first, second = facts.dims[:2]
    rows, _ = first[::-1] if facts.integer("transA") else first
    _, cells = second[::-1] if facts.integer("transB") else second
    return rows, cells


def _matmul(facts: Facts) -> Dims:
    first, second = facts.dims
    if min(len(first), len(second)) < 2:
        raise NoBoundError
    return *_together([first[:-2], second[:-2]]), first[-2], second[-1]


def _axis(axis: int, rank: int) -> int:
    return range(rank)[axis]


def _concat(facts: Facts) -> Dims:
    _one(facts)
    shapes = facts.dims
    if len({len(dims) for dims in shapes}) != 1:
        raise NoBoundError
    axis = _axis(facts.integer("axis", 1), len(shapes[0]))
    columns = list(zip(*shapes, strict=True))
    sizes = [max(column) for column in columns]
    if any(len(set(column)) > 1 for at, column in enumerate(columns) if at != axis):
        # onnxruntime 1.31.1 asks nothing of the sizes of an input without cells.
        names = filter(None, facts.names)
        filled = [d for d, name in zip(shapes, names, strict=True) if facts.scope.is_filled(name)]
        sizes = [min(column) for column in zip(*filled, strict=True)] if filled else sizes
    sizes[axis] = sum(dims[axis] for dims in shapes)
    return tuple(sizes)


def _permutation(facts: Facts, rank: int) -> list[int]:
    perm = facts.integers("perm") or list(range(rank))[::-1]
    if sorted(perm) != list(range(rank)):
        raise NoBoundError
    return perm


def _transpose(facts: Facts) -> Dims:
    (dims,) = facts.dims
    return tuple(dims[axis] for axis in _permutation(facts, len(dims)))


def _flatten(facts: Facts) -> Dims:
    (dims,) = facts.dims
    axis = facts.integer("axis", 1)
    axis = range(len(dims) + 1)[axis] if axis >= 0 else _axis(axis, len(dims))
    return prod(dims[:axis]), prod(dims[axis:])


def _reshape(facts: Facts) -> Dims:
    """0 keeps the size at its place, -1 is what is left of the cells (Reshape-13)."""
    dims, target = facts.dims[0], facts.numbers(1)
    if target is None or facts.integer("allowzero") or target.most.ndim != 1:
        raise NoBoundError
    pairs = list(zip(target.least.tolist(), target.most.tolist(), strict=True))
    kept = {at for at, pair in enumerate(pairs) if pair == (0, 0)}
    left = prod(size for at, size in enumerate(dims) if at not in kept)
    left = -(-left // max(1, prod(least for least, _ in pairs if least > 0)))
    sizes = []
    for at, (least, most) in enumerate(pairs):
        if (least, most) == (-1, -1):
            sizes.append(left)
        elif least < 0 or (least == 0 == most and at >= len(dims)):
            raise NoBoundError
        else:
            sizes.append(max(most, dims[at] if least == 0 and at < len(dims) else 0))
    return tuple(sizes)


def _squeeze(facts: Facts) -> Dims:
    dims = facts.dims[0]
    gone = _squeezed(facts, len(dims))
    return tuple(size for axis, size in enumerate(dims) if axis not in gone)


def _squeezed(facts: Facts, rank: int) -> set[int]:
    axes = facts.exact("axes", 1)
    if axes is None:
        raise NoBoundError
    return {_axis(axis, rank) for axis in axes}


def _unsqueeze(facts: Facts) -> Dims:
    dims = facts.dims[0]
    axes = _squeezed(facts, len(dims) + len(facts.exact("axes", 1) or ()))
    rest = iter(dims)
    return tuple(1 if axis in axes else next(rest) for axis in range(len(dims) + len(axes)))


def _reduce(facts: Facts) -> Dims:
    _one(facts)
    dims, axes = facts.dims[0], facts.exact("axes", 1)
    if not axes and facts.integer("noop_with_empty_axes"):
        return dims
    gone = {_axis(axis, len(dims)) for axis in axes or range(len(dims))}
    if facts.integer("keepdims", 1):
        return tuple(1 if axis in gone else size for axis, size in enumerate(dims))
    return tuple(size for axis, size in enumerate(dims) if axis not in gone)


def _shape(facts: Facts) -> Dims:
    (dims,) = facts.dims
    return (len(dims[_shape_range(facts, len(dims))]),)


def _shape_range(facts: Facts, rank: int) -> slice:
    return slice(facts.integer("start"), facts.integer("end", rank))


def _gather(facts: Facts) -> Dims:
    dims, places = facts.dims
    axis = _axis(facts.integer("axis"), len(dims))
    return *dims[:axis], *places, *dims[axis + 1 :]


def _cuts(facts: Facts, rank: int) -> list[tuple[int, int | None, int | None, int | None]]:
    """Axis, start, end and step of every cut; None where the number is not known."""
    steps = facts.exact("steps", 4)
    if any(abs(step) > LARGEST_STEP for step in steps or ()):
        raise NoBoundError  # opening a model steps through values by them
    places = [_places(facts, name, at) for at, name in ((1, "starts"), (2, "ends"))]
    axes = facts.exact("axes", 3)
    count = len(axes) if axes else max(map(len, places))
    known: list[Sequence[int | None]] = [place or [None] * count for place in places]
    numbers = [_axis(axis, rank) for axis in axes or range(count)]
    return list(zip(numbers, *known, steps or [1] * count, strict=True))


def _places(facts: Facts, attribute: str, position: int) -> list[int]:
    if attribute in facts.attributes:
        return list(facts.attributes[attribute].ints)
    found = facts.numbers(position)
    return [] if found is None else found.exact or []


def _slice(facts: Facts) -> Dims:
    """No more than there is; fewer where both places are counted from the same end."""
    sizes = list(facts.dims[0])
    for axis, start, end, step in _cuts(facts, len(sizes)):
        if start is None or end is None or step != 1:
            continue
        if start >= 0 and end >= 0:
            sizes[axis] = max(0, min(sizes[axis], end) - start)
        elif start < 0 and (end < 0 or end >= _FAR):
            sizes[axis] = max(0, min(sizes[axis], min(0, end) - start))
        elif start >= 0:
            sizes[axis] = max(0, sizes[axis] + end - start)
    return tuple(sizes)


def _split(facts: Facts) -> list[Dims]:
    dims, count = facts.dims[0], len(facts.node.output)
    axis = _axis(facts.integer("axis"), len(dims))
    pieces = facts.exact("split", 1) or [-(-dims[axis] // count)] * count
    return [(*dims[:axis], size, *dims[axis + 1 :]) for size in pieces]


def _pad(facts: Facts) -> Dims:
    dims = facts.dims[0]
    pads = facts.integers("pads") or facts.most(1)
    if facts.name(3) or len(pads) != 2 * len(dims):
        raise NoBoundError
    added = zip(dims, pads[: len(dims)], pads[len(dims) :], strict=True)
    return tuple(max(0, sum(sizes)) for sizes in added)


def _constant_of_shape(facts: Facts) -> Dims:
    if "value" in facts.attributes and facts.attributes["value"].t.data_type in _WIDER:
        raise NoBoundError
    return tuple(facts.most(0))


def _expand(facts: Facts) -> Dims:
    return _together([facts.dims[0], tuple(max(1, size) for size in facts.most(1))])


def _resize(facts: Facts) -> Dims:
    """Sizes times scales, rounded up where onnxruntime rounds down, or the sizes that are said."""
    dims, written = facts.dims[0], facts.attributes
    old = facts.node.op_type == "Upsample" or len(facts.names) == 2
    if facts.text("coordinate_transformation_mode") == "tf_crop_and_resize":
        raise NoBoundError
    if "axes" in written or "keep_aspect_ratio_policy" in written:
        raise NoBoundError
    if facts.name(3):
        return _larger(tuple(facts.most(3)), (0,) * len(dims))
    held = facts.scope.tensor(facts.name(1 if old else 2))
    values = constant(held) if held is not None and held.data_type == TensorProto.FLOAT else None
    scales = list(written["scales"].floats) if "scales" in written else _listed(values)
    if min(scales) < 0:
        raise NoBoundError
    return tuple(_scaled(*pair) for pair in zip(dims, scales, strict=True))


def _scaled(size: int, scale: float) -> int:
    """onnxruntime 1.31.1 multiplies in float32."""
    exact = scale == int(scale) and size * scale < _EXACT
    return int(size * scale) if exact else int(size * scale * (1 + 1e-6)) + 1


def _listed(values: NDArray[Any] | None) -> list[float]:
    if values is None:
        raise NoBoundError
    found: list[float] = values.ravel().tolist()
    return found


def _blocks_to_depth(facts: Facts) -> Dims:
    batch, channels, *sizes = facts.dims[0]
    block = facts.integer("blocksize")
    return batch, channels * block**2, *(-(-size // block) for size in sizes)


def _depth_to_blocks(facts: Facts) -> Dims:
    batch, channels, *sizes = facts.dims[0]
    block = facts.integer("blocksize")
    return batch, -(-channels // block**2), *(size * block for size in sizes)


def _cast(facts: Facts) -> Dims:
    if facts.integer("to") in _WIDER:
        raise NoBoundError
    return facts.dims[0]


_KEEP = """Abs Acos Acosh Asin Asinh Atan Atanh BatchNormalization Ceil Celu Clip Cos Cosh
    DequantizeLinear Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity InstanceNormalization
    IsInf IsNaN LayerNormalization LeakyRelu Log LogSoftmax Mish Neg Not QuantizeLinear
    Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Tan
    Tanh""".split()  # noqa: SIM905
_BROADCAST = """Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or
    Pow PRelu Sub Sum Where Xor""".split()  # noqa: SIM905
_KERNELS = {"Conv", "ConvTranspose"}
_FILLING = {*_KEEP, *_BROADCAST, "Cast", "Concat", "Transpose"}
"""Their results have cells where what they read has some."""
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_KEEP, _keep),
    **dict.fromkeys(_BROADCAST, _broadcast),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"), _reduce),
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _global_pool),
    "Cast": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "DepthToSpace": _depth_to_blocks,
    "Dropout": lambda facts: facts.dims[0],
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "Pad": _pad,
    "Reshape": _reshape,
    "Resize": _resize,
    "Shape": _shape,
    "Slice": _slice,
    "SpaceToDepth": _blocks_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Upsample": _resize,
}
"""By operator: the sizes of the first output, of all outputs where they are alike, or of each."""


def _moved(move: Callable[[Facts, NDArray[Any]], NDArray[Any]]) -> Following:
    """What moves the numbers of its first input and leaves them as they are."""

    def rule(facts: Facts) -> Numbers | None:
        given = facts.numbers(0)
        if given is None:
            return None
        most = move(facts, given.most)
        least = most if given.least is given.most else move(facts, given.least)
        return Numbers(least, most, given.fit)

    return rule


def _gathered(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    places = facts.numbers(1)
    indices = np.reshape(_exact(places), places.most.shape if places else ())
    found: NDArray[Any] = np.take(values, indices, facts.integer("axis"))
    return found


def _reshaped(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    return values.reshape(_exact(facts.numbers(1)))


def _cut(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    for axis, start, end, step in _cuts(facts, values.ndim):
        if start is None or end is None:
            raise NoBoundError
        cells = cells_of_cut(values.shape[axis], start, end, step or 0)
        if cells is None:
            raise NoBoundError
        values = np.take(values, list(cells), axis)
    return values


def _without_axes(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    return np.squeeze(values, tuple(_squeezed(facts, values.ndim)))


def _with_axes(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    axes = facts.exact("axes", 1) or []
    return np.expand_dims(values, tuple(_squeezed(facts, values.ndim + len(axes))))


def _transposed_numbers(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    return values.transpose(_permutation(facts, values.ndim))


def _whole(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    given = facts.numbers(0)
    if facts.integer("to") not in _FOLLOWED_TYPES or given is None or not given.fit:
        raise NoBoundError
    return values


def _sizes(facts: Facts) -> Numbers:
    (dims,) = facts.dims
    most = np.array(dims[_shape_range(facts, len(dims))], np.int64)
    return _bounded(np.zeros_like(most), most)


def _filled(facts: Facts) -> Numbers | None:
    if "value" not in facts.attributes or _exact(facts.numbers(0)) is None:
        return None
    held = facts.attributes["value"].t
    if prod(facts.most(0)) > _FEW:
        return None
    value = constant(held) if held.data_type in _FOLLOWED_TYPES else None
    if value is None:
        return None
    filled = np.full(facts.most(0), value.ravel()[0])
    return _bounded(filled, filled)


def _side_by_side(facts: Facts) -> Numbers | None:
    given = [facts.numbers(position) for position in range(len(facts.names))]
    known = [one for one in given if one is not None]
    if len(known) < len(given):
        return None
    axis = facts.integer("axis", 1)
    least, most = (np.concatenate([one[side] for one in known], axis) for side in (0, 1))
    return Numbers(least, most, all(one.fit for one in known))


def _pieces(facts: Facts) -> list[Numbers] | None:
    given = facts.numbers(0)
    if given is None:
        return None
    axis, count = facts.integer("axis"), len(facts.node.output)
    pieces = facts.exact("split", 1) or [-(-given.most.shape[axis] // count)] * count
    places = np.cumsum(pieces)[:-1]
    sides = (np.split(side, places, axis) for side in (given.least, given.most))
    return [Numbers(least, most, given.fit) for least, most in zip(*sides, strict=True)]


def _worked_out(work: Callable[[Numbers, Numbers], tuple[Any, Any]]) -> Following:
    """Arithmetic of two, where no number is wider than it is stored."""

    def rule(facts: Facts) -> Numbers | None:
        given = [facts.numbers(position) for position in range(len(facts.names))]
        known = [one for one in given if one is not None and one.fit]
        if len(known) != 2 or len(given) != 2:
            return None
        found = _bounded(*map(np.asarray, work(*known)))
        return found if found.fit else None

    return rule


def _product(one: Numbers, other: Numbers) -> tuple[Any, Any]:
    found = [a * b for a in one[:2] for b in other[:2]]
    return np.minimum.reduce(found), np.maximum.reduce(found)


def _quotient(one: Numbers, other: Numbers) -> tuple[Any, Any]:
    """Rounded towards 0; by what is not known to be one number, no further from 0 than it was."""
    if other.least is other.most and (other.most > 0).all():
        return tuple(np.sign(side) * (np.abs(side) // other.most) for side in one[:2])
    far = np.maximum(np.abs(one.least), np.abs(one.most)) + np.zeros_like(other.most)
    return -far, far


def _negative(facts: Facts) -> Numbers | None:
    given = facts.numbers(0)
    return None if given is None or not given.fit else _bounded(-given.most, -given.least)


_FOLLOWING: dict[str, Following] = {
    "Add": _worked_out(lambda one, other: (one.least + other.least, one.most + other.most)),
    "Cast": _moved(_whole),
    "Concat": _side_by_side,
    "ConstantOfShape": _filled,
    "Div": _worked_out(_quotient),
    "Gather": _moved(_gathered),
    "Identity": _moved(lambda _, values: values),
    "Max": _worked_out(lambda a, b: (np.maximum(a.least, b.least), np.maximum(a.most, b.most))),
    "Min": _worked_out(lambda a, b: (np.minimum(a.least, b.least), np.minimum(a.most, b.most))),
    "Mul": _worked_out(_product),
    "Neg": _negative,
    "Reshape": _moved(_reshaped),
    "Shape": _sizes,
    "Slice": _moved(_cut),
    "Split": _pieces,
    "Squeeze": _moved(_without_axes),
    "Sub": _worked_out(lambda one, other: (one.least - other.most, one.most - other.least)),
    "Transpose": _moved(_transposed_numbers),
    "Unsqueeze": _moved(_with_axes),
}
"""By operator: what is known of the whole numbers that it makes."""
