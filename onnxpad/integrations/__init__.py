"""onnxpad inside of other tools, one module each: `onnxpad explain integrations` shows them all.

Every module takes the options of `onnxpad.rewrite` and uses the public API alone. It imports the
tool that it is for, and is itself imported only when asked for.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import onnxpad


def rewritten(model: Any, **options: Any) -> onnxpad.Rewriting:  # noqa: ANN401 - what rewrite takes
    """What `onnxpad.rewrite` made of a model, for tools that go on with it whatever it is.

    Raises RequestError where the target still refuses or miscomputes a node, and what `rewrite`
    raises.
    """
    done = onnxpad.rewrite(model, **options)
    if done.unfit:
        one, more = done.unfit[0], len(done.unfit) - 1
        others = f" and {more} further node{'s' * (more > 1)}" if more else ""
        raise onnxpad.RequestError(
            f"there is no way to write '{one.node.label}'{others} for {done.target}: "
            f"{one.judgement.reason}; onnxpad inspect MODEL --target {done.target} shows all"
        )
    return done


def rewritten_in_place(path: Path, **options: Any) -> str:  # noqa: ANN401 - as above
    """Rewrite a file, which stays as it was where that raises; a line says what was done."""
    done = rewritten(path, **options)
    if done.changed:
        done.save(path)
    return told(done)


def told(done: onnxpad.Rewriting) -> str:
    """One line for the log of the tool: what was rewritten and what was left alone."""
    counts = Counter(change.rule for change in done.changes)
    by = ", ".join(f"{name} {number}" for name, number in counts.items())
    nodes = len({change.node for change in done.changes})
    return (
        f"onnxpad: {nodes} node{'s' * (nodes != 1)} rewritten{f' ({by})' if by else ''}, "
        f"{len(done.skips)} skipped"
    )
