"""What is to be drawn of a padded operator: cells, the frames of padding around them, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from onnxpad.geometry.size import Size, lower_bound, show
from onnxpad.geometry.windows import Axis, output_size
from onnxpad.padding.chain import Chain, Pads, PadStep, Skip, is_same
from onnxpad.padding.effective_pads import axes_in_front, effective_pads
from onnxpad.padding.fills import Fill, Implicit
from onnxpad.padding.operators import Kind
from onnxpad.show.wording import each_text

NOT_COUNTED = "not counted"
_LONGEST_LABEL = 14


class Frame(NamedTuple):
    """Cells that `by` adds at the begin and the end of each axis; negative numbers cut cells off.

    `holds` says what they hold: '0', 'the lowest value', 'reflect' ...
    """

    begins: tuple[int, ...]
    ends: tuple[int, ...]
    holds: str
    by: str

    @property
    def is_cut(self) -> bool:
        """Whether it cuts off cells somewhere."""
        return any(side < 0 for side in self.begins + self.ends)


class Drawing(NamedTuple):
    """Windows over the axes of a tensor, and the frames around it, the innermost first.

    `cells` are the sizes that are drawn, `labels` what to call them where that is not the number.
    Without `kernel` no window is drawn; `windows` are so many on each axis. Where an operator
    `scatters` (a transposed convolution), each cell of its input writes a window: `cells` are
    those that are written, of which frames cut some off. `why` says why the padding is not known:
    nothing can be drawn then.
    """

    op: str
    cells: tuple[int, ...]
    kernel: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    frames: tuple[Frame, ...] = ()
    windows: tuple[int, ...] = ()
    scatters: bool = False
    labels: tuple[str, ...] = ()
    why: str = ""


def drawing_of(chain: Chain) -> Drawing:
    """What a padded operator reads, the Pad in front of it included."""
    if chain.op.kind is Kind.PAD:
        return _of_pad(chain)
    pads = effective_pads(chain)
    if isinstance(pads, Skip) or not chain.axes:
        why = pads.reason if isinstance(pads, Skip) else "its windows are not known"
        return Drawing(chain.op.name, (), why=why)
    front = pads_in_front(chain)
    axes = axes_in_front(chain, front)
    drawn = Drawing(
        chain.op.name,
        tuple(map(drawn_size, axes)),
        tuple(axis.kernel for axis in chain.axes),
        tuple(axis.stride for axis in chain.axes),
        tuple(axis.dilation for axis in chain.axes),
        labels=tuple(_label(axis.size) for axis in axes),
    )
    if chain.op.kind is Kind.TRANSPOSED:
        return _of_transposed(chain, drawn, pads)
    frames = [Frame(pads.begins, pads.ends, held(chain.fill), chain.op.name)]
    if chain.pad is not None:
        frames.insert(0, Frame(front.begins, front.ends, _held_by(chain.pad), "Pad"))
    sizes = zip(drawn.cells, front.begins, front.ends, strict=True)
    windows = (_count(chain, pads, axis, sum(parts)) for axis, parts in enumerate(sizes))
    return drawn._replace(
        frames=tuple(frame for frame in frames if any(frame.begins + frame.ends)),
        windows=tuple(windows),
    )


def pads_in_front(chain: Chain) -> Pads:
    """What a Pad in front adds to the spatial axes."""
    step = chain.pad
    if step is None or step.unclear or not step.pads.begins:
        return Pads.zero(chain.rank)
    return Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])


def _of_pad(chain: Chain) -> Drawing:
    """The axes that a Pad pads, and the last two where those are fewer."""
    step, shape = chain.pad, chain.shape or ()
    if step is None or step.unclear:
        return Drawing("Pad", (), why=step.unclear.reason if step and step.unclear else "unknown")
    rank = len(step.pads.begins)
    sizes = tuple(shape) if len(shape) == rank else (None,) * rank
    padded = {axis for axis in range(rank) if step.pads.begins[axis] or step.pads.ends[axis]}
    shown = sorted(padded if len(padded) > 1 else {*padded, *range(max(0, rank - 2), rank)})
    begins, ends = (tuple(s[axis] for axis in shown) for s in (step.pads.begins, step.pads.ends))
    return Drawing(
        "Pad",
        tuple(drawn_size(Axis(sizes[axis], 1)) for axis in shown),
        frames=(Frame(begins, ends, _held_by(step), "Pad"),) * bool(padded),
        labels=tuple(_label(sizes[axis]) for axis in shown),
    )


def _of_transposed(chain: Chain, drawn: Drawing, pads: Pads) -> Drawing:
    cells = tuple(
        (size - 1) * axis.stride + axis.span
        for size, axis in zip(drawn.cells, chain.axes, strict=True)
    )
    extra = chain.output_padding or (0,) * chain.rank
    net = [more - cut for more, cut in zip(extra, pads.ends, strict=True)]
    added = tuple(max(0, cells) for cells in net)
    begins, cut = tuple(-cells for cells in pads.begins), tuple(min(0, cells) for cells in net)
    frames = (
        Frame((0,) * chain.rank, added, "the bias alone", "output_padding"),
        Frame(begins, cut, "", chain.op.name),
    )
    labels = tuple(
        f"written by {label or size}" for label, size in zip(drawn.labels, drawn.cells, strict=True)
    )
    return drawn._replace(
        cells=cells,
        windows=drawn.cells,
        scatters=True,
        frames=tuple(frame for frame in frames if any(frame.begins + frame.ends)),
        labels=labels,
    )


def _held_by(step: PadStep) -> str:
    return held(step.fill) if step.mode == "constant" else step.mode


def held(fill: Fill) -> str:
    """What a padded cell holds, in a few words."""
    return NOT_COUNTED if fill is Implicit.NOTHING else str(fill)


def _label(size: Size | None) -> str:
    if isinstance(size, int):
        return ""
    name = show(size)
    return "any size" if size is None or len(name) > _LONGEST_LABEL else name


def drawn_size(axis: Axis) -> int:
    """The size of an axis, or a small one that it may have."""
    if isinstance(axis.size, int):
        return axis.size
    least = max(axis.span + 2 * axis.stride, 8)
    if axis.size is None:
        return least
    least = max(least, lower_bound(axis.size))
    return least + (axis.size.residue - least) % axis.size.modulus


def _count(chain: Chain, pads: Pads, axis: int, size: int) -> int:
    """Windows on one axis of so many cells."""
    one = chain.axes[axis]
    if is_same(chain.padding):
        return -(-size // one.stride)
    one = one._replace(size=size)
    found = output_size(one, pads.begins[axis], pads.ends[axis], ceil_mode=chain.ceil_mode)
    return found if isinstance(found, int) else 0


def sentence(drawing: Drawing) -> str:
    """What a figure shows, in words: for those who cannot see it."""
    if drawing.why:
        return f"{drawing.op}: its padding is not known: {drawing.why}."
    over = f"{_by(drawing.cells)} cells"
    said = f"{drawing.op} over {over}"
    if drawing.kernel:
        window = f"{_by(drawing.kernel)} window"
        for name, steps in (("stride", drawing.strides), ("dilation", drawing.dilations)):
            window += f", {name} {each_text(steps)}" if any(step != 1 for step in steps) else ""
        verb, of = ("writes", "of") if drawing.scatters else ("reads", "over")
        said = f"{drawing.op} {verb} a {window}, {of} {over}"
    parts = [_frame_text(frame) for frame in drawing.frames] or ["No padding"]
    return f"{said}. {'. '.join(parts)}."


def _by(numbers: Sequence[int]) -> str:
    return " x ".join(map(str, numbers))


def _frame_text(frame: Frame) -> str:
    """'Pad adds [1, 0, 0, 1] (reflect)': begins, then ends, as ONNX writes pads."""
    sides = [*frame.begins, *frame.ends]
    if max(sides) <= 0:
        return f"{frame.by} cuts off {[-side for side in sides]}"
    return f"{frame.by} adds {sides} ({frame.holds})"
