"""Shapes, pads and windows as people write them, and notes about single nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from onnxpad.errors import few

if TYPE_CHECKING:
    from onnxpad.probing.whole import WholeRun


def visible(text: str) -> str:
    """The text on one line, with control characters as escapes: names may hold any."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def frameworks_text(names: Sequence[str]) -> str:
    """The first frameworks, those whose own rule it is in front, and how many more there are."""
    return few(names, _FRAMEWORKS_SHOWN) or "-"


_FRAMEWORKS_SHOWN = 3
STANDARD = "-"
"""What stands for standard input and output."""


def route_text(model: str, written: str | None = None) -> str:
    """'a.onnx -> b.onnx': what a model was read from and, where it was, written to."""
    target = f" -> {'standard output' if written == STANDARD else written}" if written else ""
    return f"{'standard input' if model == STANDARD else model}{target}"


def runs_text(runs: Sequence[WholeRun]) -> list[str]:
    """What each run of a whole model showed; the target is named where there are several."""
    return [f"{one.target}: {one.sentence}" if runs[1:] else one.sentence for one in runs]


def quotes_for_windows(text: str) -> str:
    """The same with double quotes around what is typed: cmd takes single ones as letters."""
    return _TYPED.sub(r'\1"\2"', text)


_TYPED = re.compile(r"(--?[a-z-]+ )'([^'\n]*)'")


def given_text(assumed: Mapping[str, int | str]) -> str:
    """The facts as options: "--dim 'height=640' --dim 'width%32=0'"."""
    return " ".join(f"--dim '{name}{_as_fact(fact)}'" for name, fact in assumed.items())


def assumed_text(assumed: Mapping[str, int | str]) -> str:
    """'holds where height=640, width%32=0'; '' where nothing is assumed."""
    facts = [f"{name}{_as_fact(fact)}" for name, fact in assumed.items()]
    return f"holds where {visible(', '.join(facts))}" if facts else ""


def open_in_file_text(assumed: Mapping[str, int | str]) -> str:
    """That a runtime knows a stated size once the file says it, and who writes it there."""
    sizes = {name: size for name, size in assumed.items() if isinstance(size, int)}
    if not sizes:
        return ""
    said = assumed_text(sizes).removeprefix("holds where ")
    return f"judged as if the file said {said}: 'rewrite --dim' writes that into it"


def recorded_text(recorded: Mapping[str, int | str]) -> str:
    """'holds where height%32=0, as the model itself says in its metadata'; '' for nothing."""
    said = assumed_text(recorded)
    return f"{said}, as the model itself says in its metadata (onnxpad.holds_where)" * bool(said)


def _as_fact(fact: int | str) -> str:
    if isinstance(fact, int):
        return f"={fact}"
    plain = "".join(fact.split()).replace("==", "=")
    return plain if plain.startswith("%") else f"={plain}"


def idle_lines(*, in_vain: bool, compared: bool) -> Iterator[str]:
    """That a model is as it was although something was to be done, and that nothing was run."""
    if in_vain:
        yield "nothing was changed"
    if not compared:
        yield "nothing to validate: the model did not change"


def shape_text(shape: Sequence[object] | None) -> str:
    """'[1, 3, height, width]'; '?' where a size, or even the rank, is not known."""
    if shape is None:
        return "[?]"
    return "[" + ", ".join("?" if size is None else size_text(str(size)) for size in shape) + "]"


def size_text(size: str) -> str:
    """The size, or about how much of a dimension it is where its expression is long."""
    if len(size) <= _LONGEST_SIZE:
        return size
    from onnxpad.show.sizes import about

    return about(size) or "computed"


_LONGEST_SIZE = 28


def pads_text(pads: Sequence[int] | None) -> str:
    """Begin and end of each axis: '0,1 0,1'; '?' where they are not known."""
    if pads is None:
        return "?"
    half = len(pads) // 2
    return " ".join(f"{pads[axis]},{pads[half + axis]}" for axis in range(half))


def onnx_pads_text(pads: Sequence[int] | None) -> str:
    """Every begin, then every end, as ONNX writes them: '[0, 0, 1, 1]'; '?' for what is unknown."""
    return "?" if pads is None else str(list(pads))


def each_text(numbers: Sequence[int]) -> str:
    """'3' for the same number on every axis, '3,5' otherwise."""
    if len(set(numbers)) == 1:
        return str(numbers[0])
    return ",".join(str(number) for number in numbers)


def window_text(kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> str:
    """'k3 s2 d2', without strides and dilations of 1."""
    parts = [f"k{each_text(kernel)}"] if kernel else []
    parts += [f"s{each_text(strides)}"] if any(stride != 1 for stride in strides) else []
    parts += [f"d{each_text(dilations)}"] if any(step != 1 for step in dilations) else []
    return " ".join(parts)


def input_text(
    tensor: str, shape: Sequence[object] | None, kernel: Sequence[int], strides: Sequence[int]
) -> str:
    """'images [1, 3, height, width], kernel 3, stride 2'."""
    text = f"{tensor} {shape_text(shape)}".strip()
    if kernel:
        text += f", kernel {each_text(kernel)}"
    if any(stride != 1 for stride in strides):
        text += f", stride {each_text(strides)}"
    return text


def bytes_text(count: int) -> str:
    """'512 B', '12.3 kB', '4.56 MB': three digits, powers of 1000."""
    size, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.3g} {units[0]}"


def limits_text(limits_met: Iterable[str]) -> Iterator[str]:
    """A line for each limit that was met."""
    for said in limits_met:
        yield visible(f"warning: {said}; sizes that only it finds are not known")
