"""Runs the probes in runtimes: `python -m tests.runtimes --runtimes opencv,ncnn --probes`."""

import argparse
import sys
import time
from collections import Counter

from tests.runtimes import RUNTIMES, recorded
from tests.runtimes.environments import Unavailable, command
from tests.runtimes.running import SECONDS, outcomes


def compared(name: str, only: str, seconds: float, *, quiet: bool) -> None:
    """Run the probes in one runtime, print the verdicts and where the record says otherwise."""
    cases = {key: case for key, case in recorded.probes().items() if only in key}
    found = outcomes(RUNTIMES[name], cases, seconds=seconds)
    past = recorded.verdicts(name)
    counts = Counter(outcome.verdict for outcome in found.values())
    print(f"{name}: {dict(counts)}", flush=True)
    if not quiet:
        for key, outcome in found.items():
            print(f"  {outcome.verdict:<8} {key}  {' '.join(outcome.message.split())[:160]}")
    differing = {k: o for k, o in found.items() if k in past and past[k][0] != o.verdict}
    for key, outcome in differing.items():
        now = " ".join(outcome.message.split())[:200]
        then = " ".join(past[key][1].split())[:200]
        print(f"  {key}: now {outcome.verdict} ({now}), recorded {past[key][0]} ({then})")
    print(f"{name}: {len(differing)} of {len(past)} recorded verdicts differ", flush=True)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Run models in deployment runtimes.")
    parser.add_argument("--runtimes", default=",".join(RUNTIMES), help="names, with commas")
    parser.add_argument("--probes", action="store_true", help="run the probes in ../shared")
    parser.add_argument("--only", default="", metavar="TEXT", help="probes whose name holds TEXT")
    parser.add_argument("--quiet", action="store_true", help="print only counts and differences")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of one model")
    options = parser.parse_args()
    for name in options.runtimes.split(","):
        if name not in RUNTIMES:
            sys.exit(f"no runtime '{name}'; there are {', '.join(RUNTIMES)}")
        start = time.monotonic()
        try:
            command(RUNTIMES[name])
            print(f"{name}: environment ready after {time.monotonic() - start:.1f} s", flush=True)
            if options.probes:
                compared(name, options.only, options.seconds, quiet=options.quiet)
        except Unavailable as reason:
            print(f"{name}: {reason}")


if __name__ == "__main__":
    main()
