"""Runs the probes in runtimes: `python -m tests.runtimes.live --runtimes opencv,ncnn --probes`."""

import argparse
import sys
import time
from collections import Counter

from tests.runtimes.live import RUNTIMES, recorded
from tests.runtimes.live.environments import Unavailable, place
from tests.runtimes.live.judging import Outcome
from tests.runtimes.live.running import SECONDS, outcomes


def made(name: str) -> bool:
    """Make the environment of a runtime, and say how long that took or why it cannot be made."""
    start = time.monotonic()
    try:
        place(RUNTIMES[name])
    except Unavailable as reason:
        print(f"{name}: {reason}", flush=True)
        return False
    print(f"{name}: environment ready after {time.monotonic() - start:.1f} s", flush=True)
    return True


def probed(name: str, only: str, seconds: float) -> dict[str, Outcome]:
    """Run the probes in one runtime, print how many ended how, and what was recorded otherwise."""
    cases = {key: case for key, case in recorded.probes().items() if only in key}
    found = outcomes(RUNTIMES[name], cases, seconds=seconds)
    past = recorded.verdicts(name)
    print(f"{name}: {dict(Counter(outcome.verdict for outcome in found.values()))}")
    differing = {k: o for k, o in found.items() if k in past and past[k][0] != o.verdict}
    for key, outcome in differing.items():
        now, then = shortened(outcome.message), shortened(past[key][1])
        print(f"  {key}: now {outcome.verdict} ({now}), recorded {past[key][0]} ({then})")
    known = sum(key in past for key in found)
    print(f"{name}: {len(differing)} of {known} recorded verdicts differ", flush=True)
    return found


def shortened(message: str) -> str:
    """The message on one line."""
    return " ".join(message.split())[:200]


def table(found: dict[str, dict[str, Outcome]]) -> None:
    """One row per probe, one column per runtime."""
    width = {name: max(len(name), 8) for name in found}
    keys = list(dict.fromkeys(key for column in found.values() for key in column))
    first = max(map(len, keys), default=0)
    print(" ".join([" " * first, *(f"{name:<{width[name]}}" for name in found)]))
    for key in keys:
        cells = [f"{column[key].verdict:<{width[name]}}" for name, column in found.items()]
        print(" ".join([f"{key:<{first}}", *cells]).rstrip())


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Run models in deployment runtimes.")
    parser.add_argument("--runtimes", default=",".join(RUNTIMES), help="names, with commas")
    parser.add_argument("--probes", action="store_true", help="run the probes in ../shared")
    parser.add_argument("--only", default="", metavar="TEXT", help="probes whose name holds TEXT")
    parser.add_argument("--quiet", action="store_true", help="print no table")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of one model")
    options = parser.parse_args()
    names = options.runtimes.split(",")
    unknown = [name for name in names if name not in RUNTIMES]
    if unknown:
        sys.exit(f"no runtime {', '.join(unknown)}; there are {', '.join(RUNTIMES)}")
    if options.probes and not recorded.folder().exists():
        sys.exit(f"no probes in {recorded.folder()}; $ONNXPAD_PROBES may name another folder")
    found = {}
    for name in names:
        if made(name) and options.probes:
            found[name] = probed(name, options.only, options.seconds)
    if found and not options.quiet:
        table(found)


if __name__ == "__main__":
    main()
