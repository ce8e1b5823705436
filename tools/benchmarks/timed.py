"""Runs a script given as text; prints the cost of all but its imports as JSON."""

from __future__ import annotations

import ast
import json
import resource
import sys
import time


def main() -> None:
    """Run the first argument."""
    tree = ast.parse(sys.argv[1])
    imports: list[ast.stmt] = [
        node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    rest = [node for node in tree.body if node not in imports]
    names: dict[str, object] = {}
    exec(compile(ast.Module(imports, []), "imports", "exec"), names)  # noqa: S102  our own text
    start = time.process_time()
    exec(compile(ast.Module(rest, []), "script", "exec"), names)  # noqa: S102  our own text
    cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": cpu, "peak_mb": peak}))


if __name__ == "__main__":
    main()
