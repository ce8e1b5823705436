"""Arithmetic on sizes that are no numbers, against the same arithmetic on every size."""

from __future__ import annotations

from functools import partial
from math import ceil, floor

import numpy as np

from onnxpad.geometry.linear import Linear, linear_of
from onnxpad.geometry.size import Symbol
from onnxpad.model.graph.constant_folding import applied
from onnxpad.model.graph.open_cells import Array, by_cells, cell_as, cells_of, is_open, sizes_of

H, W = Symbol("H", 4, 2, 2), Symbol("W")
SIZES = [(h, w) for h in range(2, 40, 4) for w in (1, 2, 3, 5, 8, 13)]
INTEGERS = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Neg")
ONE_INPUT = ("Neg", "Floor", "Ceil")
Step = tuple[str, tuple[int, ...]]


def cast(one: Array, dtype: type) -> Array:
    if not is_open(one):
        return one.astype(dtype)
    to_type = partial(cell_as, dtype=np.dtype(dtype))
    found = by_cells(to_type, lambda cell: cell.astype(dtype), [one])
    assert found is not None
    return found


def rounded(op: str, value: Array, divisor: int) -> Array | None:
    """How torch divides sizes: in floating point, and back."""
    share = applied("Div", [cast(value, np.float32), np.asarray(divisor, np.float32)])
    found = share if share is None else applied(op, [share])
    return None if found is None else cast(found, np.int64)


def ran(program: list[Step], inputs: list[Array]) -> list[Array | None]:
    """Every value of a program; None where the rules do not know it."""
    values: list[Array | None] = list(inputs)
    for op, places in program:
        read = [values[place] for place in places]
        known = [one for one in read if one is not None]
        found = None
        if len(known) == len(read):
            try:
                if op in ("Floor", "Ceil"):
                    found = rounded(op, known[0], 1 + places[0] % 3)
                else:
                    found = applied(op, known)
            except ZeroDivisionError:
                found = None
        values.append(found)
    return values


def drawn(seed: int) -> list[Step]:
    """A program over two sizes and four numbers; tests only choose."""
    random, program = np.random.default_rng(seed), list[Step]()
    whole = list(range(6))
    for _ in range(int(random.integers(2, 10))):
        here = 6 + len(program)
        op = str(random.choice((*INTEGERS, *INTEGERS, "Floor", "Ceil")))
        count = 1 if op in ONE_INPUT else 2
        places = tuple(int(random.choice(whole)) for _ in range(count))
        if op in ("Div", "Mod"):
            places = (places[0], int(random.choice((3, 4))))
        program.append((op, places))
        whole.append(here)
    return program


NUMBERS = [np.asarray(number, np.int64) for number in (1, 2, 3, -5)]


def value_at(cell: object, h: int, w: int) -> object:
    """A cell for certain sizes."""
    if not isinstance(cell, Linear):
        return cell
    names = {"H": h, "W": w, "floor": floor, "ceil": ceil, "trunc": int}
    terms = (eval(atom.name, {}, names) * factor for atom, factor in cell.terms)  # noqa: S307
    return sum(terms) + cell.added


def test_what_is_known_holds_for_every_size() -> None:
    checked = settled = 0
    for seed in range(1200):
        program = drawn(seed)
        start = [cells_of([linear_of(size)], ()) for size in (H, W)]
        symbolic = ran(program, start + NUMBERS)
        for h, w in SIZES[seed % 5 :: 5]:
            exact = ran(program, [np.asarray(h), np.asarray(w), *NUMBERS])
            for known, number in zip(symbolic, exact, strict=True):
                if known is None or (is_open(known) and known.item() is None):
                    continue
                assert number is not None, program
                cell = known.item()
                checked += 1
                settled += not isinstance(cell, Linear)
                assert value_at(cell, h, w) == number.item(), (program, h, w, cell)
    assert checked > 20_000
    assert settled > 10_000


def test_floats_that_may_be_rounded_are_not_known() -> None:
    third = rounded("Floor", cells_of([linear_of(W)], ()), 3)
    assert third is not None
    assert [getattr(size, "name", None) for size in sizes_of(third)] == ["floor(W/3)"]
    share = applied(
        "Div", [cast(cells_of([linear_of(W)], ()), np.float32), np.asarray(3, np.float32)]
    )
    assert share is not None
    back = applied("Mul", [share, np.asarray(3, np.float32)])
    assert back is not None
    assert back.item() is None
    assert cell_as(linear_of(W), np.dtype(np.float16)) is None
