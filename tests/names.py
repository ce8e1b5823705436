"""Names of all kinds of entries, as `onnxpad explain` lists them."""

import json
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from tests.command import run


def _listed() -> list[dict[str, Any]]:
    with redirect_stdout(StringIO()) as printed:
        run(["explain", "--json"])
    return [json.loads(line) for line in printed.getvalue().splitlines()]


ENTRIES = _listed()
"""As --json gives them: kind, name, text, facts."""


def names(kind: str) -> tuple[str, ...]:
    """Names of a kind of entry, such as 'trap'."""
    return tuple(entry["name"] for entry in ENTRIES if entry["kind"] == kind)


PASSES = names("pass")
TARGETS = names("target")
