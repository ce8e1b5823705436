"""The time that a proof takes: what the processor spends on its thread.

Whatever else a machine does, the same proof comes to the same end.
"""

import math
import time
from dataclasses import dataclass, field

from onnxpad.proof.endings import Undecided


@dataclass(slots=True)
class Clock:
    """Counts up to `seconds` of the processor, in its own thread, and ends what goes on.

    So that a proof which has to wait ends as well, `slowdown` seconds of the clock on the wall
    count as one, where that is more. A share of what is left may be given away.
    """

    seconds: float = math.inf
    slowdown: float = math.inf
    share: float = math.inf
    _thread: float = field(default_factory=time.thread_time)
    _wall: float = field(default_factory=time.monotonic)

    @property
    def now(self) -> float:
        """What was spent so far."""
        waited = time.monotonic() - self._wall
        return max(time.thread_time() - self._thread, waited / self.slowdown)

    @property
    def left(self) -> float:
        """What may still be spent."""
        return self.seconds - self.now

    def in_time(self) -> None:
        """Raise Undecided when the time is over."""
        if self.now >= self.seconds:
            raise Undecided("the budget of seconds is spent")

    def check(self) -> None:
        """Raise Undecided when the time is over, or the share of it."""
        if self.now >= min(self.seconds, self.share):
            raise Undecided("the budget of seconds is spent")

    def divide(self, parts: int) -> None:
        """Give one of some parts of what is left to what follows."""
        now = self.now
        self.share = now + max(0.0, self.seconds - now) / parts
