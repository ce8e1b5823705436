"""python -m tests.random_models: many random models, every pass and pair of passes."""

import argparse
import sys
import time

from tests.random_models.coverage import Coverage
from tests.random_models.running import run
from tests.random_models.shrinking import shrink

SHOWN = 10


def say(text: str, end: str = "\n") -> None:
    """Write to standard output at once."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


def main() -> None:
    """Parse the command line, run, print the summary; exit with 1 on a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.random_models", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="models to draw")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--wanted", type=int, help="models for each pair (default: count/100)")
    options = parser.parse_args()
    wanted = options.wanted or max(1, options.count // 100)
    start = time.monotonic()

    told = 0

    def progress(total: Coverage) -> None:
        nonlocal told
        done, failed = total.models.total(), len(total.failures)
        for failure in total.failures[told : told + SHOWN]:
            say(f"\n{failure}")
        told = failed
        seconds = time.monotonic() - start
        say(f"\r{done} of {options.count} models, {failed} failures, {seconds:.0f} s", end="")

    total = run(options.count, options.seed, options.processes, wanted, progress)
    say("\n")
    for line in total.lines():
        say(line)
    thin = total.thin(wanted)
    say(f"\n{len(thin)} orders applied to fewer than {wanted} models")
    report(total)
    sys.exit(1 if total.failures else 0)


def report(total: Coverage) -> None:
    """Print failures, the smallest of each sort once and shrunk."""
    say(f"{len(total.failures)} failures, seeds are in the specs")
    seen: set[tuple[str, str, str]] = set()
    for failure in sorted(total.failures, key=lambda one: len(repr(one.spec))):
        sort = (failure.order[-1], failure.spec.operator.family, failure.reason[:30])
        if sort not in seen and len(seen) < SHOWN:
            seen.add(sort)
            say(f"\n{failure}\nshrunk: {shrink(failure)}")


if __name__ == "__main__":
    main()
