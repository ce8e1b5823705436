"""Tables of the README that are generated from the code.

python -m tests.house.readme_tables      writes them into README.md
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from onnxpad.padding.operators import OPERATORS
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.recipes import RECIPES
from onnxpad.runtimes.targets import all_targets

README = Path(__file__).parents[2] / "README.md"
MEASURED = Path(__file__).parents[1] / "runtimes" / "targets" / "measured.json"


def passes_table() -> str:
    """One row for each pass: what it does and the forms that it removes and may add."""
    rows = ["| pass | what it does | removes | may add |", "|---|---|---|---|"]
    for rule in all_passes().values():
        first = rule.text.splitlines()[0].rstrip(".")
        rows.append(f"| `{rule.name}` | {first} | {_list(rule.removes)} | {_list(rule.adds)} |")
    return "\n".join(rows)


def operators_table() -> str:
    """One row for each domain and kind of operator."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in OPERATORS.values():
        kind = "left alone" if row.why_left_alone else str(row.kind)
        groups.setdefault((row.domain or "ai.onnx", kind), []).append(row.name)
    rows = ["| domain | kind | operators |", "|---|---|---|"]
    for (domain, kind), names in groups.items():
        rows.append(f"| {domain} | {kind} | {', '.join(names)} |")
    return "\n".join(rows)


def targets_table() -> str:
    """One row for each target: what it is, the version, and how most of it is known."""
    rows = ["| target | what it is | version | known from |", "|---|---|---|---|"]
    for target in all_targets().values():
        first = target.text.splitlines()[0].rstrip(".")
        kinds = Counter(str(row.evidence.certainty) for row in target.rows)
        known = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
        rows.append(f"| `{target.name}` | {first} | {target.version} | {known} |")
    return "\n".join(rows)


def _list(forms: frozenset[str]) -> str:
    return ", ".join(sorted(str(form) for form in forms)) or "-"


def recipes_table() -> str:
    """One row for each recipe: the job and the passes that do it."""
    rows = ["| what you want | options |", "|---|---|"]
    rows += [f"| {recipe.job} | `{recipe.options}` |" for recipe in RECIPES]
    return "\n".join(rows)


SETS = {"probes": "probes", "drawn": "drawn models", "corpus": "real models"}


def measured_table() -> str:
    """One row for each runtime: models that are right before and after, and those with no way."""
    found = json.loads(MEASURED.read_text())
    rows = [f"| runtime | {' | '.join(SETS.values())} |", f"|---|{'---|' * len(SETS)}"]
    for name in all_targets():
        cells = [_measured(found[kind].get(name)) for kind in SETS]
        if any(cell != "-" for cell in cells):
            rows.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def _measured(row: dict[str, int] | None) -> str:
    if row is None:
        return "-"
    return f"{row['before']} → {row['after']} of {row['models']}, no way {row['no way']}"


TABLES = {
    "recipes": recipes_table,
    "passes": passes_table,
    "targets": targets_table,
    "measured": measured_table,
    "operators": operators_table,
}


def filled(text: str) -> str:
    """The README with every generated table in place."""
    for name, make in TABLES.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)"
        found = re.search(pattern, text, flags=re.DOTALL)
        if found is None:
            raise ValueError(f"README.md has no place for the table '{name}'")
        text = text[: found.start()] + found[1] + make() + "\n" + found[2] + text[found.end() :]
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
