"""Questions about Pad nodes."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from onnxpad.padding.chain import Chain, PadStep
from onnxpad.padding.fills import Constant, number_of
from onnxpad.padding.forms import outer_axes, writes_value
from onnxpad.padding.operators import PadInput, Since
from onnxpad.runtimes.conditions.rows import Condition

PAD = ("Pad",)


def of_step(test: Callable[[PadStep], bool | None]) -> Callable[[Chain], bool | None]:
    """A test of the Pad in front of the operator, or of the Pad that the chain is about."""
    return lambda chain: chain.pad is not None and test(chain.pad)


def mode(*names: str) -> Condition:
    """The mode is one of `names`."""
    words = " or ".join(names)
    return Condition(
        f"its mode is {words}", of_step(lambda s: s.mode in names), f"its mode is not {words}"
    )


CONSTANT = mode("constant")
REFLECT = mode("reflect")
EDGE = mode("edge")
WRAP = mode("wrap")
MIRRORS = mode("reflect", "edge", "wrap")


def _wraps(test: Callable[[int | None, int, int], bool]) -> Callable[[Chain], bool]:
    """A test of the size, the begin and the end of some axis, in mode wrap."""

    def holds(chain: Chain) -> bool:
        step = chain.pad
        if step is None or step.unclear or step.mode != "wrap":
            return False
        sizes = chain.shape or (None,) * len(step.pads.begins)
        known = (size if isinstance(size, int) else None for size in sizes)
        return any(test(size, *pads) for size, pads in zip(known, step.pads.sides, strict=True))

    return holds


PLAIN_WRAPS = "small models crop no axis that they wrap, and wrap it once"
WRAPS_PARTLY = Condition(
    "its mode is wrap, and an axis is cropped on one side and made longer on the other",
    _wraps(lambda _, begin, end: min(begin, end) < 0 < max(begin, end)),
)
WRAPS_AGAIN = Condition(
    "its mode is wrap, and a pad is longer than the axis",
    _wraps(
        lambda size, begin, end: (
            size is not None and max(begin, end) > size + min(begin, 0) + min(end, 0)
        )
    ),
)


def _is_computed(step: PadStep) -> bool:
    return bool(step.computed or (step.unclear and not step.unclear.illegal))


COMPUTED = Condition("its pads are computed", of_step(_is_computed))


def _at_run_time(chain: Chain) -> bool:
    step = chain.pad
    if step is None or PadInput.PADS not in step.computed:
        return False
    return bool(step.unclear) or from_sizes_known_to_the_user(chain, step)


def from_sizes_known_to_the_user(chain: Chain, step: PadStep) -> bool:
    """Whether pads are numbers only by what the user says of sizes that the file leaves open."""
    return chain.read_as.assumes_sizes and step.sized


AT_RUN_TIME = Condition(
    "its pads are computed while the model runs",
    _at_run_time,
    "its pads are not computed while the model runs",
)
READS_INPUT = Condition(
    "it reads an input of the model",
    lambda c: c.around.reads_input,
    "it reads no input of the model",
)
PADS_FED = Condition(
    "its pads are an input of the model",
    of_step(lambda s: _is_computed(s) and bool(s.unclear) and PadInput.PADS not in s.computed),
    "its pads are no input of the model",
)
CROPS = Condition("a pad is negative", of_step(lambda s: any(pad < 0 for pad in s.pads.flat)))
LISTS_AXES = Condition("it lists axes", of_step(lambda s: PadInput.AXES in s.listed))
WRITES_VALUE = Condition("it pads with a value other than 0", of_step(writes_value))
VALUE_NOT_FINITE = Condition(
    "it pads with an infinite value",
    of_step(
        lambda s: (
            s.mode == "constant" and isinstance(s.fill, Constant) and not isfinite(s.fill.value)
        )
    ),
)


def _is_no_byte(chain: Chain) -> bool:
    step = chain.pad
    if step is None or step.mode != "constant" or not chain.around.behind_quantised:
        return False
    value = number_of(step.fill)
    is_byte = value is not None and value in range(_BYTES)
    return sum(map(any, step.pads.sides)) == 1 and not is_byte


_BYTES = 128
"""Bytes that int8 and uint8 both have."""
NO_BYTE = Condition(
    "it pads one axis alone, a quantised operator stands in front, and its value is not a whole "
    "number from 0 to 127",
    _is_no_byte,
)
VALUE_LISTED = Condition(
    "constant_value is a list of one number", of_step(lambda s: PadInput.VALUE in s.listed)
)


def _reads_value(chain: Chain) -> bool:
    return chain.inputs[PadInput.VALUE :][:1] == (True,)


VALUE_GIVEN = Condition(
    "constant_value is given",
    lambda c: c.opset >= Since.PAD_INPUTS and _reads_value(c),
)
VALUE_LEFT_OUT = Condition(
    "constant_value is left out",
    lambda c: c.opset >= Since.PAD_INPUTS and not _reads_value(c),
    "constant_value is given",
)
MODE_UNWRITTEN = Condition("Pad omits `mode`", lambda c: "mode" not in dict(c.attributes))


def _outer(chain: Chain) -> bool:
    return chain.pad is not None and bool(outer_axes(chain, chain.pad.pads))


OUTER_AXES = Condition(
    "it pads the batch or the channels", _outer, "neither the batch nor the channels are padded"
)


BATCH_AXIS = Condition(
    "it pads the batch",
    of_step(lambda s: any(any(sides) for sides in s.pads.sides[:1])),
    "it does not pad the batch",
)


def _beyond_last_two(chain: Chain) -> bool:
    step = chain.pad
    if step is None:
        return False
    count = len(step.pads.begins)
    return any(step.pads.begins[a] or step.pads.ends[a] for a in range(max(0, count - 2)))


BEYOND_LAST_TWO = Condition("it pads axes other than the last two", _beyond_last_two)


def _axes_padded(step: PadStep) -> int:
    return sum(1 for sides in step.pads.sides if any(sides))


ON_FOUR_AXES = Condition("it pads four axes or more", of_step(lambda s: _axes_padded(s) > 3))
