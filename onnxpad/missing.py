"""Sizes that decide and are not known: what a Skip says about them, and what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm

from onnxpad.chain import Chain, Skip
from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import Size, Symbol, show

_EXAMPLE = 640
_FIX = ("give the model's inputs fixed sizes",)


def missing_sizes(chain: Chain, what: str, missing: list[int], *, exact: bool = False) -> Skip:
    """The Skip for spatial axes whose size decides about `what` and is not known.

    `exact` says that only the number helps, and no divisor of it.
    """
    axes = chain.axes
    parts = [
        f"{chain.first_axis + i} ({_which(axes[i].size)}, stride {axes[i].stride})" for i in missing
    ]
    kernel = ",".join(str(axis.kernel) for axis in axes)
    noun = "the size of axis" if len(missing) == 1 else "the sizes of axes"
    reason = f"{what} with kernel {kernel} needs {noun} {' and '.join(parts)}"
    return sizes_to_give(reason, [axes[i] for i in missing], exact=exact)


def sizes_to_give(reason: str, axes: Sequence[Axis], *, exact: bool = False) -> Skip:
    """A Skip with the facts about the model's dimensions that settle these axes."""
    moduli: dict[str, int] = {}
    for axis in axes:
        if isinstance(axis.size, Symbol) and axis.size.root:
            root, modulus = axis.size.root, axis.size.divisor * axis.stride
            moduli[root] = lcm(moduli.get(root, 1), modulus)
    if not moduli:
        return Skip(reason, _FIX)
    exact = exact or 1 in moduli.values()
    values = _numbers({root: m * max(1, _EXAMPLE // m) for root, m in moduli.items()})
    known = all(isinstance(axis.size, Symbol) and axis.size.root for axis in axes)
    if exact or not known:
        return Skip(reason, (values,))
    multiples = tuple(moduli.items())
    return Skip(reason, (values, multiples_text(multiples)), multiples=multiples)


def shape_to_give(reason: str, axes: Sequence[Axis], outputs: Sequence[int]) -> Skip:
    """The same for transposed convolutions of a fixed output: the input that it is a stride of."""
    values: dict[str, int] = {}
    for axis, output in zip(axes, outputs, strict=True):
        if isinstance(axis.size, Symbol) and axis.size.root:
            cells = -(-output // axis.stride) - axis.size.offset
            values.setdefault(axis.size.root, max(1, cells * axis.size.divisor))
    return Skip(reason, (_numbers(values),) if values else _FIX)


def multiples_text(multiples: Sequence[tuple[str, int]]) -> str:
    """Options that say so: "--dim 'H%2=0' --dim 'W%4=0'"."""
    return facts_text([(root, f"%{modulus}=0") for root, modulus in multiples])


def facts_text(facts: Sequence[tuple[str, int | str]]) -> str:
    """Options that say them: "--dim 'N=1' --dim 'H%2=0'"."""
    said = ((name, f"={fact}" if isinstance(fact, int) else fact) for name, fact in facts)
    return " ".join(f"--dim '{name}{fact}'" for name, fact in said)


def settling(skips: Sequence[Skip]) -> tuple[tuple[tuple[str, int], ...], int]:
    """Divisors of dimensions with which none of `skips` lacks a size, and how many that are."""
    moduli: dict[str, int] = {}
    helped = [skip for skip in skips if skip.multiples]
    for skip in helped:
        for root, modulus in skip.multiples:
            moduli[root] = lcm(moduli.get(root, 1), modulus)
    return tuple(moduli.items()), len(helped)


def _numbers(sizes: Mapping[str, int]) -> str:
    return facts_text(tuple(sizes.items()))


def _which(size: Size | None) -> str:
    return "which nothing in the model tells" if size is None else f"which is '{show(size)}'"
