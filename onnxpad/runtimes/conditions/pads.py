"""Questions about Pad nodes."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from onnxpad.padding.chain import Chain, PadStep
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import outer_axes, writes_value
from onnxpad.padding.operators import Destination, PadInput, Since
from onnxpad.runtimes.conditions.rows import Condition

PAD = ("Pad",)


def _step(test: Callable[[PadStep], bool | None]) -> Callable[[Chain], bool | None]:
    return lambda chain: chain.pad is not None and test(chain.pad)


def mode(*names: str) -> Condition:
    """The mode is one of `names`."""
    words = " or ".join(names)
    return Condition(
        f"its mode is {words}", _step(lambda s: s.mode in names), f"its mode is not {words}"
    )


CONSTANT = mode("constant")
REFLECT = mode("reflect")
EDGE = mode("edge")
WRAP = mode("wrap")
MIRRORS = mode("reflect", "edge", "wrap")
COMPUTED = Condition("its pads are computed", _step(lambda s: bool(s.unclear or s.computed)))
UNKNOWN_PADS = Condition("its pads are not known before a run", _step(lambda s: bool(s.unclear)))


def _at_run_time(chain: Chain) -> bool:
    step = chain.pad
    if step is None:
        return False
    return PadInput.PADS in step.computed and (bool(step.unclear) or chain.assumes_sizes)


READS_INPUT = Condition("it reads an input of the model", lambda c: c.around.reads_input)
PADS_AT_RUN_TIME = Condition(
    "its pads are computed while the model runs",
    _at_run_time,
    "its pads are not computed while the model runs",
)
PADS_FED = Condition(
    "its pads are an input of the model",
    _step(lambda s: bool(s.unclear) and PadInput.PADS not in s.computed),
    "its pads are no input of the model",
)
CROPS = Condition("a pad is negative", _step(lambda s: any(pad < 0 for pad in s.pads.flat)))
GROWS = Condition("a pad is positive", _step(lambda s: any(pad > 0 for pad in s.pads.flat)))
CROPS_ONLY = Condition(
    "its pads crop and do not pad",
    _step(lambda s: any(s.pads.flat) and all(pad <= 0 for pad in s.pads.flat)),
)
LISTS_AXES = Condition("it lists axes", _step(lambda s: s.lists_axes))
WRITES_VALUE = Condition("it writes something other than 0", _step(writes_value))
VALUE_NOT_FINITE = Condition(
    "it writes an infinite value",
    _step(
        lambda s: (
            s.mode == "constant" and isinstance(s.fill, Constant) and not isfinite(s.fill.value)
        )
    ),
)
FEEDS_MAX_ALONE = Condition(
    "only max pools read it, each of whose windows holds a cell of data",
    lambda c: c.around.feeds_alone is Destination.MAX_POOLS,
    "something else than a max pool reads it, or a max pool with a window that holds no data",
)
VALUE_LISTED = Condition("constant_value is a list of one number", _step(lambda s: s.lists_value))


def _reads_value(chain: Chain) -> bool:
    return chain.inputs[PadInput.VALUE :][:1] == (True,)


VALUE_GIVEN = Condition(
    "constant_value is given",
    lambda c: c.opset >= Since.PAD_INPUTS and _reads_value(c),
)
VALUE_LEFT_OUT = Condition(
    "constant_value is left out",
    lambda c: c.opset >= Since.PAD_INPUTS and not _reads_value(c),
)
MODE_UNWRITTEN = Condition("mode is not written", lambda c: "mode" not in dict(c.attributes))


def _outer(chain: Chain) -> bool:
    return chain.pad is not None and bool(outer_axes(chain, chain.pad.pads))


OUTER_AXES = Condition("it pads the batch or the channels", _outer)
BATCH_AXIS = Condition(
    "it pads the batch",
    _step(lambda s: bool(s.pads.begins) and bool(s.pads.begins[0] or s.pads.ends[0])),
)


CHANNEL_AXIS = Condition(
    "it pads the channels",
    _step(lambda s: len(s.pads.begins) > 2 and bool(s.pads.begins[1] or s.pads.ends[1])),
)


def _beyond_last_two(chain: Chain) -> bool:
    step = chain.pad
    if step is None:
        return False
    count = len(step.pads.begins)
    return any(step.pads.begins[a] or step.pads.ends[a] for a in range(max(0, count - 2)))


BEYOND_LAST_TWO = Condition("it pads axes other than the last two", _beyond_last_two)


def _axes_padded(step: PadStep) -> int:
    return sum(1 for sides in zip(step.pads.begins, step.pads.ends, strict=True) if any(sides))


ON_FOUR_AXES = Condition("it pads four axes or more", _step(lambda s: _axes_padded(s) > 3))
PADS_NOTHING = Condition(
    "all its pads are 0", _step(lambda s: not s.unclear and not any(s.pads.flat))
)
FEEDS_OUTPUTS_ALONE = Condition(
    "no node reads it", lambda c: c.around.feeds_alone is Destination.OUTPUTS
)
