"""Pads of a Pad node, placed on the axes of its input."""

from __future__ import annotations

from onnxpad.chain import Pads, PadStep
from onnxpad.fills import Constant, Fill


def placed(
    flat: tuple[int, ...], axes: tuple[int, ...] | None, rank: int | None, fill: Fill, mode: str
) -> PadStep:
    """The step with these pads over `axes` (None: all), unclear where they do not fit."""
    count = len(flat) // 2
    if axes is None:
        if len(flat) % 2 or (rank is not None and count != rank):
            return unclear(rank, f"the Pad has {len(flat)} pads for {rank} axes", mode)
        return PadStep(Pads(flat[:count], flat[count:]), fill, mode)
    if len(flat) != 2 * len(axes):
        return unclear(rank, f"the Pad has {len(flat)} pads for {len(axes)} listed axes", mode)
    if rank is None:
        return unclear(rank, "the Pad lists axes of an input of unknown rank", mode)
    places = [axis + rank if axis < 0 else axis for axis in axes]
    if any(not 0 <= place < rank for place in places) or len(set(places)) < len(places):
        return unclear(rank, f"the Pad's axes {list(axes)} do not fit {rank} axes", mode)
    begins, ends = [0] * rank, [0] * rank
    for index, place in enumerate(places):
        begins[place], ends[place] = flat[index], flat[count + index]
    return PadStep(Pads(tuple(begins), tuple(ends)), fill, mode)


def unclear(rank: int | None, reason: str, mode: str = "constant") -> PadStep:
    """A step whose pads cannot be used, and why."""
    return PadStep(Pads.zero(rank or 0), Constant(0), mode, unclear=reason)
