"""Sizes of axes: an integer, or a symbol with what is known of it.

A symbol that is computed is floor((factor * atom + added) / divisor) in its shortest form: windows
over windows, roundings and whole steps become one such quotient, so that equal sizes are equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import NamedTuple, TypeAlias

from onnxpad.geometry.budgets import LARGEST_SIZE, LONGEST_NAME
from onnxpad.geometry.size_fact import NOTHING_KNOWN, SizeFact

_BARE = re.compile(r"[\w.\[\]]+|(ceil|floor)\([^()]*\)")


class Form(NamedTuple):
    """How a size is computed: floor((factor * atom + added) / divisor), factor above 0."""

    atom: Symbol
    factor: int = 1
    added: int = 0
    divisor: int = 1


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size that is not known as a number.

    It is congruent to `residue` modulo `modulus` and at least `minimum`. `root` is the dimension
    of the model that it comes from (None where it comes from nowhere), `divisor` the product of
    the strides between both, and `stated` what is known of that dimension. `form` is None for a
    size that is not computed from another.
    """

    name: str
    modulus: int = 1
    residue: int = 0
    minimum: int = 1
    root: str | None = None
    divisor: int = 1
    stated: SizeFact = field(default=NOTHING_KNOWN, compare=False)
    form: Form | None = None


Size: TypeAlias = int | Symbol


def stated_size(name: str, fact: SizeFact) -> Size:
    """The size that the dimension of a model has of which this is known."""
    if fact.number is not None:
        return fact.number
    return Symbol(name, fact.divisor, fact.rest, root=name, stated=fact)


def form_of(size: Symbol) -> Form:
    """How a size is computed; an atom is once itself."""
    return size.form or Form(size)


def residues(size: Size, modulus: int) -> Sequence[int]:
    """Every value that `size` modulo `modulus` can take, the smallest first."""
    if isinstance(size, int):
        return (size % modulus,)
    step = gcd(size.modulus, modulus)
    return range(size.residue % step, modulus, step)


def lower_bound(size: Size) -> int:
    """The smallest value that `size` can take."""
    if isinstance(size, int):
        return size
    return size.minimum + (size.residue - size.minimum) % size.modulus


def plus(size: Size, amount: int) -> Size:
    """`size + amount`."""
    if isinstance(size, int) or not amount:
        return size + amount if isinstance(size, int) else size
    form = form_of(size)
    return computed(form._replace(added=form.added + amount * form.divisor))


def times(size: Size, factor: int) -> Size:
    """`size * factor`, factor at least 1; what was divided before without rest comes back."""
    if isinstance(size, int):
        return size * factor
    form = exact_form(size)
    return computed(form._replace(factor=form.factor * factor, added=form.added * factor))


def floor_divide(size: Size, divisor: int) -> Size:
    """`size // divisor`."""
    if isinstance(size, int):
        return size // divisor
    form = form_of(size)
    return computed(form._replace(divisor=form.divisor * divisor))


def ceil_divide(size: Size, divisor: int) -> Size:
    """`ceil(size / divisor)`."""
    return floor_divide(plus(size, divisor - 1), divisor)


def exact_form(size: Symbol) -> Form:
    """A form of the size in which the divisor leaves no rest: a rounded quotient is an atom."""
    form = form_of(size)
    if form.factor * form.atom.modulus % form.divisor == 0:
        return form
    whole = form.added // form.divisor
    atom = computed(form._replace(added=form.added - whole * form.divisor))
    assert isinstance(atom, Symbol)  # noqa: S101 - one with an open rest is no number
    return Form(atom, 1, whole)


def computed(form: Form) -> Symbol:
    """The size of a form, in the shortest form; beyond int64 only its name is known."""
    atom, factor, added, divisor = form
    if factor * atom.modulus % divisor == 0:
        added -= (factor * atom.residue + added) % divisor
    shared = gcd(factor, divisor)
    form = Form(atom, factor // shared, added // shared, divisor // shared)
    if form == Form(atom):
        return atom
    if form.factor == 1 and atom.form:
        inner = atom.form
        added = inner.added + form.added * inner.divisor
        return computed(inner._replace(added=added, divisor=inner.divisor * form.divisor))
    is_exact = form.factor * atom.modulus % form.divisor == 0
    modulus = form.factor * atom.modulus // form.divisor if is_exact else 1
    minimum = (form.factor * lower_bound(atom) + form.added) // form.divisor
    if max(modulus, abs(minimum), *map(abs, form[1:])) > LARGEST_SIZE:
        return Symbol(_named(_text(form)), minimum=-LARGEST_SIZE)
    return Symbol(
        _named(_text(form)),
        modulus,
        (form.factor * atom.residue + form.added) // form.divisor % modulus,
        minimum,
        atom.root,
        atom.divisor * form.divisor,
        atom.stated,
        form,
    )


def _split(form: Form) -> tuple[str, int, int]:
    """The rounding as people say it, what is added before it and what comes to it."""
    whole, rest = divmod(form.added, form.divisor)
    if form.divisor > 1 and rest == form.divisor - 1:
        return "ceil", 0, whole
    return "floor", rest, whole


def _text(form: Form) -> str:
    """A size as people write it: 'ceil(H/2)+1'."""
    rounding, inside, outside = _split(form)
    text = form.atom.name
    if form[1::2] != (1, 1) and not _BARE.fullmatch(text):
        text = f"({text})"
    if form.factor > 1:
        text = f"{form.factor}*{text}"
    if form.divisor > 1:
        inner = f"({text}{inside:+d})" if inside else text
        text = f"{rounding}({inner}/{form.divisor})"
    return f"{text}{outside:+d}" if outside else text


def _named(text: str) -> str:
    """An expression as the name of a size: one that is too long gets a name of its own."""
    if len(text) <= LONGEST_NAME:
        return text
    from hashlib import sha256  # costs more than all of this module

    return f"size_{sha256(text.encode()).hexdigest()[:32]}"


def plain_sizes(sizes: tuple[Size | None, ...] | None) -> tuple[int | str | None, ...] | None:
    """Sizes as JSON can hold them: numbers, names and formulas, None where nothing is known."""
    if sizes is None:
        return None
    return tuple(one.name if isinstance(one, Symbol) else one for one in sizes)


def stated_names(sizes: Sequence[Size | None] | None) -> tuple[int | str, ...]:
    """Sizes as a file writes them: a number, a dimension's name, or '' for a computed size."""
    return tuple(
        size if isinstance(size, int) else size.name if size and size.root == size.name else ""
        for size in sizes or ()
    )


def show(size: Size | None) -> str:
    """The size as people write it; `?` where nothing is known."""
    return "?" if size is None else size.name if isinstance(size, Symbol) else str(size)
