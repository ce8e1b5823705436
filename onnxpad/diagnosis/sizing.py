"""Ways to pad that cannot have the sizes of a reference, by the sizes that others gave."""

from __future__ import annotations

from dataclasses import dataclass, field

from onnxpad.diagnosis.guesses import Choice
from onnxpad.diagnosis.pursuit import changed
from onnxpad.diagnosis.runner import Broken, Runner
from onnxpad.diagnosis.score import ReferenceValues

_Outputs = tuple[int, ...]


@dataclass
class Sizing:
    """What the sizes of the reference `name` tell of single changes of `chosen`.

    More cells of a node give no fewer behind it: where some are too many on one axis, so are
    more, and where some are too few, so are fewer.
    """

    runner: Runner
    target: ReferenceValues
    chosen: Choice
    name: str
    too_small: dict[int, list[_Outputs]] = field(default_factory=dict)
    too_large: dict[int, list[_Outputs]] = field(default_factory=dict)

    def is_ruled_out(self, number: int, option: int) -> bool:
        """Whether an option of a suspect is known to give another size than the reference has."""
        mine = self._outputs(number, option)
        small, large = self.too_small.get(number, ()), self.too_large.get(number, ())
        return bool(mine) and (
            any(_at_most(mine, other) for other in small)
            or any(_at_most(other, mine) for other in large)
        )

    def learn(self, number: int, option: int) -> None:
        """Note what an option gives that was run."""
        mine = self._outputs(number, option)
        state = self.runner.until(self.name, changed(self.chosen, (number, option)))
        if not mine or isinstance(state, Broken):
            return
        got, right = state.tensors[self.name].shape, self.target.values[self.name].shape
        if len(got) != len(right):
            return
        if any(a < b for a, b in zip(got, right, strict=True)):
            self.too_small.setdefault(number, []).append(mine)
        if any(a > b for a, b in zip(got, right, strict=True)):
            self.too_large.setdefault(number, []).append(mine)

    def _outputs(self, number: int, option: int) -> _Outputs:
        """Spatial sizes of a suspect's output; empty where they are not known."""
        state = self.runner.before(number, self.chosen)
        if isinstance(state, Broken):
            return ()
        found = self.runner.choices[number].outputs(option, self.runner.sizes(number, state))
        return tuple(size for size in found if isinstance(size, int))


def _at_most(one: _Outputs, other: _Outputs) -> bool:
    return len(one) == len(other) and all(a <= b for a, b in zip(one, other, strict=True))
