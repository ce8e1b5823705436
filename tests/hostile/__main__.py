"""python -m tests.hostile: files and arguments that mean harm, and every verb on them."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.hostile.case import Case
from tests.hostile.classes import CLASSES
from tests.hostile.running import Failure, Summary, attack, drawn, spread

SHOWN = 60


def say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


def main() -> None:
    """Parse the command line, attack, print the table; exit with 1 on a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="cases to draw")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--class", dest="kinds", action="append", choices=sorted(CLASSES))
    parser.add_argument("--only", metavar="CLASS/N", help="one case, with all that it prints")
    parser.add_argument("--keep", type=Path, help="a folder in which the files of --only stay")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    total = Summary()
    if options.only:
        kind, _, number = options.only.partition("/")
        cases = [Case(kind, int(number), options.seed)]
        found = attack(cases, options.keep, verbose=True)
    else:
        cases = drawn(options.count, options.seed, options.kinds or ())
        found = spread(cases, options.processes)
    start, told = time.monotonic(), 0.0
    for part in found:
        total.merge(part)
        now = time.monotonic() - start
        if options.json:
            continue
        for one in part.failures:
            say(f"{one.case}: {one.fault.what}: {one.command[:200]}\n  {one.fault.detail[-1500:]}")
        if now > told + 10:
            told = now
            done = f"{total.cases.total()} of {len(cases)} cases"
            say(f"{done}, {now:.0f} s, {len(total.failures)} failures")
    say(json.dumps(_record(total, options.seed)) if options.json else _table(total))
    sys.exit(1 if total.failures else 0)


def _record(total: Summary, seed: int) -> dict[str, object]:
    return {
        "seed": seed,
        "classes": {
            kind: {
                "cases": total.cases[kind],
                "commands": total.commands[kind],
                "seconds": round(total.seconds[kind], 1),
                "exits": {str(code): n for (of, code), n in total.exits.items() if of == kind},
                "failures": sum(one.case.kind == kind for one in total.failures),
            }
            for kind in total.cases
        },
        "failures": [
            {
                "case": str(one.case),
                "command": one.command,
                "what": one.fault.what,
                "detail": one.fault.detail,
            }
            for one in total.failures
        ],
    }


def _table(total: Summary) -> str:
    lines = [f"{'class':<14} cases commands  s each   most s  most MiB  failures  exit codes"]
    for kind in sorted(total.cases):
        codes = sorted((code, n) for (of, code), n in total.exits.items() if of == kind)
        commands = total.commands[kind]
        seconds, memory = total.most.get(kind, (0.0, 0))
        failed = sum(one.case.kind == kind for one in total.failures)
        lines.append(
            f"{kind:<14} {total.cases[kind]:>5} {commands:>8} "
            f"{total.seconds[kind] / max(1, commands):>7.2f} {seconds:>8.1f} {memory >> 20:>9} "
            f"{failed:>9}  " + ", ".join(f"{code}: {n}" for code, n in codes)
        )
    lines.append(
        f"{total.cases.total()} cases, {total.commands.total()} commands, "
        f"{len(total.failures)} failures"
    )
    sorts = Counter(one.sort for one in total.failures)
    first: dict[tuple[str, str, str], Failure] = {}
    for one in total.failures:
        first.setdefault(one.sort, one)
    for sort, count in sorts.most_common(SHOWN):
        lines.append(f"\n{count} times: {first[sort]}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
