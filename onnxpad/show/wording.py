"""Shapes, pads, windows, facts and files as people write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from onnxpad.errors import few
from onnxpad.padding.effective_pads import facts_text

if TYPE_CHECKING:
    from onnxpad.probing.whole import WholeRun

T = TypeVar("T")
STANDARD = "-"
"""What stands for standard input and output."""
EACH = "--each or --json"
"""What shows the rest of a brief text."""
_FRAMEWORKS_SHOWN, _LONGEST_SIZE = 3, 28


def alike(items: Iterable[T], key: Callable[[T], object], *, each: bool = False) -> list[list[T]]:
    """The items in groups of one key, in the order of the first of each; alone with `each`."""
    groups: dict[object, list[T]] = {}
    for number, item in enumerate(items):
        groups.setdefault(number if each else key(item), []).append(item)
    return list(groups.values())


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


def route_text(model: str, written: str | None = None) -> str:
    """'a.onnx -> b.onnx': what a model was read from and, where it was, written to."""
    target = f" -> {'standard output' if written == STANDARD else written}" if written else ""
    return f"{'standard input' if model == STANDARD else model}{target}"


def runs_text(runs: Sequence[WholeRun]) -> list[str]:
    """What each run of a whole model showed; the target is named where there are several."""
    return [f"{one.target}: {one.sentence}" if runs[1:] else one.sentence for one in runs]


def ran_text(providers: Mapping[str, Sequence[str]]) -> str:
    """'before on CPUExecutionProvider; after on CPUExecutionProvider'."""
    return "; ".join(f"{role} on {', '.join(names)}" for role, names in providers.items())


def given_text(assumed: Mapping[str, int | str]) -> str:
    """The facts as options: "--dim 'height=640' --dim 'width%32=0'"."""
    return facts_text([(name, _as_fact(fact)) for name, fact in assumed.items()])


def assumed_text(assumed: Mapping[str, int | str]) -> str:
    """'holds where height=640, width%32=0'; '' where nothing is assumed."""
    facts = [f"{name}{_as_fact(fact)}" for name, fact in assumed.items()]
    return f"holds where {visible(', '.join(facts))}" if facts else ""


def open_in_file_text(assumed: Mapping[str, int | str]) -> str:
    """That a runtime knows a stated size once the file says it, and who writes it there."""
    sizes = {name: size for name, size in assumed.items() if isinstance(size, int)}
    said = assumed_text(sizes).removeprefix("holds where ")
    written = "'rewrite --dim' writes that into it"
    return f"judged as if the file said {said}: {written}" if sizes else ""


def _as_fact(fact: int | str) -> str:
    plain = "".join(str(fact).split()).replace("==", "=")
    return plain if plain.startswith("%") else f"={plain}"


def shape_text(shape: Sequence[object] | None) -> str:
    """'[1, 3, height, width]'; '?' where a size, or even the rank, is not known."""
    if shape is None:
        return "[?]"
    sizes = ("?" if size is None else str(size) for size in shape)
    return f"[{', '.join(s if len(s) <= _LONGEST_SIZE else f'{s[:25]}...' for s in sizes)}]"


def pads_text(pads: Sequence[int] | None) -> str:
    """Every begin, then every end, as ONNX writes them: '[0, 0, 1, 1]'; '?' for what is unknown."""
    return "?" if pads is None else str(list(pads))


def each_text(numbers: Sequence[int]) -> str:
    """'3' for the same number on every axis, '3,5' otherwise."""
    return ",".join(map(str, numbers if len(set(numbers)) > 1 else numbers[:1]))


def window_text(kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> str:
    """'k3 s2 d2', without strides and dilations of 1."""
    parts = [f"k{each_text(kernel)}"] if kernel else []
    parts += [f"s{each_text(strides)}"] if any(stride != 1 for stride in strides) else []
    parts += [f"d{each_text(dilations)}"] if any(step != 1 for step in dilations) else []
    return " ".join(parts)


def limits_text(limits_met: Iterable[str]) -> list[str]:
    """A line for each limit that was met."""
    return [f"warning: {limit}; sizes that only it finds are not known" for limit in limits_met]
