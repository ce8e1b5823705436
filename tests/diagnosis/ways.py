"""Ways to pad one layer, written as frameworks and exporters write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Pair = tuple[int, int]
Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """One padded operator: `op` is conv, max, average or transposed."""

    op: str
    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    group: int = 1

    @property
    def spans(self) -> Sizes:
        pairs = zip(self.kernel, self.dilation, strict=True)
        return tuple((k - 1) * d + 1 for k, d in pairs)


@dataclass(frozen=True)
class Written:
    """Attributes of the operator, and pads of a Pad node in front of it."""

    attributes: Mapping[str, Any]
    front: tuple[Pair, ...] | None = None


def same(layer: Layer, sizes: Sizes, *, lower: bool = False) -> list[Pair]:
    """TensorFlow's formula."""
    found = []
    for size, span, stride in zip(sizes, layer.spans, layer.stride, strict=True):
        total = max((-(-size // stride) - 1) * stride + span - size, 0)
        less, more = total // 2, total - total // 2
        found.append((more, less) if lower else (less, more))
    return found


def half(layer: Layer) -> list[Pair]:
    """As many cells at both sides, as PyTorch users write it."""
    return [((span) // 2, (span) // 2) for span in layer.spans]


def flat(pairs: list[Pair] | tuple[Pair, ...]) -> list[int]:
    return [begin for begin, _ in pairs] + [end for _, end in pairs]


def written(layer: Layer, way: str, sizes: Sizes, *, dynamic: bool = False) -> Written:
    """The layer padded in `way`; `dynamic` keeps SAME as auto_pad."""
    if layer.op == "transposed":
        return _transposed(layer, way)
    if way in ("upper", "lower"):
        if dynamic and max(layer.dilation) == 1:
            return Written({"auto_pad": f"SAME_{way.upper()}"})
        return Written({"pads": flat(same(layer, sizes, lower=way == "lower"))})
    return _numbered(layer, way, sizes)


def _numbered(layer: Layer, way: str, sizes: Sizes) -> Written:
    none = [(0, 0)] * len(sizes)
    match way:
        case "symmetric":
            return Written({"pads": flat(half(layer))})
        case "valid":
            return Written({"pads": flat(none)})
        case "causal":
            return Written({"pads": flat([(span - 1, 0) for span in layer.spans])})
        case "hand":
            return Written({"pads": flat(none)}, tuple(same(layer, sizes)))
        case "hand symmetric":
            return Written({"pads": flat(none)}, tuple(half(layer)))
        case "ceil":
            return Written({"pads": flat(none), "ceil_mode": 1})
        case "symmetric ceil":
            return Written({"pads": flat(half(layer)), "ceil_mode": 1})
    raise AssertionError(way)


def _transposed(layer: Layer, way: str) -> Written:
    """Crops: size*stride cells with the odd one at the end or the begin, alike, or none at all."""
    pairs, growth = [], []
    for span, stride in zip(layer.spans, layer.stride, strict=True):
        total = span - stride
        less, more = total // 2, total - total // 2
        grown = 0
        match way:
            case "upper":
                pair = (less, more)
            case "lower":
                pair = (more, less)
            case "symmetric":
                pair, grown = (more, more), 2 * more - total
            case "plain":
                pair = (more, more)
            case _:
                pair = (0, 0)
        pairs.append(pair)
        growth.append(grown)
    attributes: dict[str, Any] = {"pads": flat(pairs)}
    return Written(attributes | ({"output_padding": growth} if any(growth) else {}))


def sizes_after(layer: Layer, sizes: Sizes, found: Written) -> Sizes:
    """Spatial sizes of the output; sizes below 1 where the kernel does not fit."""
    pads = found.attributes.get("pads", [0] * (2 * len(sizes)))
    growth = found.attributes.get("output_padding", [0] * len(sizes))
    result = []
    for axis, (size, span, stride) in enumerate(zip(sizes, layer.spans, layer.stride, strict=True)):
        both = pads[axis] + pads[axis + len(sizes)]
        if layer.op == "transposed":
            result.append((size - 1) * stride + span - both + growth[axis])
            continue
        if "auto_pad" in found.attributes:
            result.append(-(-size // stride))
            continue
        room = size + both + (sum(found.front[axis]) if found.front else 0) - span
        count = room // stride + 1
        if (
            found.attributes.get("ceil_mode")
            and room % stride
            and count * stride < size + pads[axis]
        ):
            count += 1
        result.append(count if room >= 0 else 0)
    return tuple(result)
