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
from onnxpad.show.wording import window_text

NOT_COUNTED = "not counted"
_LONGEST_LABEL = 14


class Frame(NamedTuple):
    """Cells that `by` adds or cuts off; `holds` says what they hold: '0', 'reflect' ..."""

    by: str
    holds: str


class DrawnAxis(NamedTuple):
    """One axis of a tensor, with the windows over it.

    label: what to call its size where that is not the number of cells.
    kernel: taps of a window; 0 where no window is drawn.
    pads: what each frame adds at the begin and the end; negative numbers cut cells off.
    """

    cells: int
    label: str = ""
    kernel: int = 0
    stride: int = 1
    dilation: int = 1
    windows: int = 0
    pads: tuple[tuple[int, int], ...] = ()


class Drawing(NamedTuple):
    """Windows over the axes of a tensor, and the frames around it, the innermost first.

    scatters: each cell of the input writes a window (a transposed convolution): the cells are those
        that are written, of which frames cut some off.
    why: why the padding is not known; nothing can be drawn then.
    """

    op: str
    axes: tuple[DrawnAxis, ...]
    frames: tuple[Frame, ...] = ()
    scatters: bool = False
    why: str = ""


def drawing_of(chain: Chain) -> Drawing:
    """What a padded operator reads, the Pad in front of it included."""
    op, step = chain.op.name, chain.pad
    if chain.op.kind is Kind.PAD:
        return _of_pad(chain)
    pads = effective_pads(chain)
    if isinstance(pads, Skip) or not chain.axes:
        return Drawing(op, (), why=getattr(pads, "reason", "its windows are not known"))
    front = Pads.zero(chain.rank)
    if step is not None and not step.unclear and step.pads.begins:
        front = Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])
    sides = [(Frame(op, held(chain.fill)), pads.sides)]
    if step is not None:
        sides.insert(0, (Frame("Pad", _held_by(step)), front.sides))
    scatters = chain.op.kind is Kind.TRANSPOSED
    if scatters:
        extra = chain.output_padding or (0,) * chain.rank
        net = [more - cut for more, cut in zip(extra, pads.ends, strict=True)]
        added = tuple((0, max(0, cells)) for cells in net)
        cut = tuple((-b, min(0, cells)) for b, cells in zip(pads.begins, net, strict=True))
        sides = [(Frame("output_padding", "the bias alone"), added), (Frame(op, ""), cut)]
    sides = [(frame, pairs) for frame, pairs in sides if any(map(any, pairs))]
    axes = []
    for number, (axis, outer) in enumerate(
        zip(chain.axes, axes_in_front(chain, front), strict=True)
    ):
        size, label = _drawn_size(outer), _label(outer.size)
        count = size if scatters else _count(chain, pads, number, size + sum(front.sides[number]))
        drawn = DrawnAxis(size, label, axis.kernel, axis.stride, axis.dilation, count)
        if scatters:
            cells = (size - 1) * axis.stride + axis.span
            drawn = drawn._replace(cells=cells, label=f"written by {label or size}")
        axes.append(drawn._replace(pads=tuple(pairs[number] for _, pairs in sides)))
    return Drawing(op, tuple(axes), tuple(frame for frame, _ in sides), scatters)


def _of_pad(chain: Chain) -> Drawing:
    """The axes that a Pad pads, and the last two where those are fewer."""
    step, shape = chain.pad, chain.shape or ()
    if step is None or step.unclear:
        return Drawing("Pad", (), why=step.unclear.reason if step and step.unclear else "unknown")
    rank, sides = len(step.pads.begins), step.pads.sides
    sizes = tuple(shape) if len(shape) == rank else (None,) * rank
    padded = {axis for axis in range(rank) if any(sides[axis])}
    shown = padded if len(padded) > 1 else {*padded, *range(max(0, rank - 2), rank)}
    axes = tuple(
        DrawnAxis(
            _drawn_size(Axis(sizes[axis], 1)),
            _label(sizes[axis]),
            pads=(sides[axis],) * bool(padded),
        )
        for axis in sorted(shown)
    )
    return Drawing("Pad", axes, (Frame("Pad", _held_by(step)),) * bool(padded))


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


def _drawn_size(axis: Axis) -> int:
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
    axes = drawing.axes
    said = f"{drawing.op} over {_by([axis.cells for axis in axes])} cells"
    if any(axis.kernel for axis in axes):
        window = window_text(*zip(*((a.kernel, a.stride, a.dilation) for a in axes), strict=True))
        said += f", {'written' if drawing.scatters else 'read'} with the window {window}"
    parts = [
        _frame_text(frame, [axis.pads[n] for axis in axes])
        for n, frame in enumerate(drawing.frames)
    ]
    return f"{said}. {'. '.join(parts or ['No padding'])}."


def _by(numbers: Sequence[int]) -> str:
    return " x ".join(map(str, numbers))


def _frame_text(frame: Frame, pairs: Sequence[tuple[int, int]]) -> str:
    """'Pad adds [1, 0, 0, 1] (reflect)': begins, then ends, as ONNX writes pads."""
    sides = [pair[end] for end in (0, 1) for pair in pairs]
    if max(sides) <= 0:
        return f"{frame.by} cuts off {[-side for side in sides]}"
    return f"{frame.by} adds {sides} ({frame.holds})"
