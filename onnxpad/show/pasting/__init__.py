"""The same layer as code of another framework, to paste; one file each, the folder is walked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.conventions import by_name_and_alias
from onnxpad.frameworks.steps import Window, spatial_pads, value_of_pad, values_of
from onnxpad.padding.expansion import Step
from onnxpad.plugins import Plugins
from onnxpad.resolving import Resolution

_IN_WORDS_OF = {"keras": "tensorflow"}
"""Frameworks whose users can write what another one has: tf.nn takes what Keras gives."""


def languages() -> tuple[str, ...]:
    """The frameworks in which layers can be written."""
    return tuple(_WRITERS)


def language_called(name: str) -> str:
    """The language that a framework's name stands for: 'torch' is pytorch, 'keras' tensorflow.

    RequestError for names of others.
    """
    known, folded = languages(), str(name).strip().casefold()
    convention = by_name_and_alias().get(folded)
    found = convention.name if convention else folded
    if (own := _IN_WORDS_OF.get(found, found)) in known:
        return own
    raise RequestError(f"no code is written for {name!r}{values.hint(name, known)}")


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
        raise RequestError(f"{name} in {language}: {error!s}") from None
    return "\n".join(lines)


def _lines(write: ModuleType, steps: Sequence[Step], sizes: Sequence[int]) -> Iterator[str]:
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


def call(name: str, *arguments: str, **words: str) -> str:
    """`name(a, b, word=c)`, without arguments that are ''."""
    given = [*arguments, *(f"{word}={value}" for word, value in words.items() if value)]
    return f"{name}({', '.join(filter(None, given))})"


def unless(numbers: Sequence[int], plain: int, written: object) -> str:
    """What is written of an attribute, or '' where all its numbers are the plain one."""
    return "" if set(numbers) == {plain} else str(written)


_WRITERS: Plugins[ModuleType] = Plugins(__name__, "language", lambda module: module)
"""Each has `layout`, `pad`, `bias`, `convolution`, `transposed`, `pool`, and `part`: axes of x
cut to `{}`. Windows come with the axes that they slide over."""
