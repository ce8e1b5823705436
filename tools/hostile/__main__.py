"""python -m tools.hostile: files and arguments that mean harm, and every verb on them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.hostile.case import Case
from tools.hostile.running import CLASSES, Summary, attack, drawn, spread


def main() -> None:
    """Parse the command line, attack, print failures and a table; exit with 1 on a failure."""
    parser = argparse.ArgumentParser(prog="python -m tools.hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="cases to draw")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--class", dest="kinds", action="append", choices=sorted(CLASSES))
    parser.add_argument("--only", metavar="CLASS/N", help="one case alone")
    parser.add_argument("--keep", type=Path, help="a folder in which the files of --only stay")
    options = parser.parse_args()
    total = Summary()
    if options.only:
        kind, _, number = options.only.partition("/")
        parts = iter([attack([Case(kind, int(number), options.seed)], options.keep)])
    else:
        parts = spread(drawn(options.count, options.seed, options.kinds or ()), options.processes)
    for part in parts:
        total.merge(part)
        for one in part.failures:
            print(one, flush=True)
    print(total)
    sys.exit(1 if total.failures else 0)


if __name__ == "__main__":
    main()
