"""Makes environments of runtimes: `python -m tests.runtimes.live opencv ncnn` (without names: all).

What these runtimes do with models: `python -m tools.runtimes.measure`.
"""

import sys

from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable, place

if __name__ == "__main__":
    for name in sys.argv[1:] or RUNTIMES:
        try:
            print(f"{name}: {place(RUNTIMES[name])}", flush=True)
        except Unavailable as reason:
            print(f"{name}: {reason}", flush=True)
