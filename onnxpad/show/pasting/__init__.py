"""The same layer as code of another framework, to paste; one file each, the folder is walked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import NamedTuple

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.conventions import by_name_and_alias
from onnxpad.frameworks.steps import Window, spatial_pads, value_of_pad, values_of
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Pads
from onnxpad.padding.expansion import Step
from onnxpad.plugins import Plugins
from onnxpad.resolving import Resolution


def languages() -> tuple[str, ...]:
    """The frameworks in which layers can be written."""
    return tuple(_WRITERS)


def language_called(name: str) -> str:
    """The language that a framework's name stands for: 'torch' is pytorch, 'keras' tensorflow.

    RequestError for names of others.
    """
    known, folded = languages(), str(name).strip().casefold()
    if folded in known:
        return folded
    convention = by_name_and_alias().get(folded)
    found = convention.name if convention else ""
    if (own := _IN_WORDS_OF.get(found, found)) in known:
        return own
    raise RequestError(f"no code is written for {name!r}{values.hint(name, known)}")


_IN_WORDS_OF = {"keras": "tensorflow"}
"""Frameworks whose users can write what another one has: tf.nn takes what Keras gives."""


class Writer(NamedTuple):
    """How a framework writes each node, and what is said first about layouts.

    `part` are axes of x cut to `{}`. Windows come with the axes that they slide over.
    """

    layout: Callable[[Resolution | None], list[str]]
    pad: Callable[[Pads, str, float], str]
    part: str
    bias: Callable[[int], str]
    convolution: Callable[[Window, Sequence[Axis]], list[str]]
    transposed: Callable[[Window, Sequence[Axis]], list[str]]
    pool: Callable[[Window, Sequence[Axis]], list[str]]


def code_of(found: Resolution | None, language: str, front: Step | None = None) -> str:
    """A layer as lines of code, behind a Pad in `front`; one of both may be None.

    RequestError for unknown names and what has no such form. A first comment says where the layout
    of `x` and `weight` is not that of ONNX.
    """
    write = _WRITERS[language_called(language)]
    try:
        lines = write.layout(found)
        lines += _lines(write, [front], []) if front else []
        if found:
            lines += _lines(write, found.steps, [slide.size for slide in found.plan.slides])
    except RequestError as error:
        name = f"{found.framework} {found.op}" if found else "Pad"
        raise RequestError(f"{name} in {language}: {error.told}") from None
    return "\n".join(lines)


def _lines(write: Writer, steps: Sequence[Step], sizes: Sequence[int]) -> Iterator[str]:
    """The ONNX nodes one by one; `sizes` are the spatial ones of the first node's input."""
    for step in steps:
        match step.op_type:
            case "Pad":
                pads, mode = spatial_pads(step), str(dict(step.attributes)["mode"])
                yield write.pad(pads, mode, value_of_pad(step))
                sizes = [size + sum(pair) for size, pair in zip(sizes, pads.sides, strict=False)]
            case "Slice":
                kept = list(zip(values_of(step, "starts"), values_of(step, "ends"), strict=True))
                yield f"x = {write.part.format(', '.join(f'{low}:{high}' for low, high in kept))}"
                sizes = [int(high - low) for low, high in kept]
            case "Mul":
                yield f"x = x * {values_of(step, 'factor')[0]!r}"
            case "Add":
                yield write.bias(len(sizes))
            case op:
                kinds = {"Conv": write.convolution, "ConvTranspose": write.transposed}
                window = Window.of(step)
                yield from kinds.get(op, write.pool)(window, window.axes(sizes))


def call(name: str, *arguments: str) -> str:
    """`name(a, b)`, without arguments that are ''."""
    return f"{name}({', '.join(argument for argument in arguments if argument)})"


def tuple_of(numbers: Sequence[int]) -> str:
    """'3' for equal numbers, '(3, 5)' otherwise."""
    numbers = tuple(numbers)
    return str(numbers[0]) if len(set(numbers)) == 1 else str(numbers)


def quoted(text: str) -> str:
    """The text in double quotes."""
    return f'"{text}"'


def _writer_in(module: ModuleType) -> Writer:
    return Writer(*(getattr(module, name) for name in Writer._fields))


_WRITERS = Plugins(__name__, "language", _writer_in)
