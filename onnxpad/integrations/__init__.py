"""onnxpad inside of other tools, one module each: `onnxpad explain integrations` shows them all.

Every module takes the options of `onnxpad.rewrite`, and `validate=True`, and uses the public API
alone. It imports the tool that it is for, and is itself imported only when asked for.
"""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path
from typing import Any

import onnxpad

_NAMING = ("target", "passes", "prefer", "exclude")
"""The options that name passes and targets, whatever the model is."""
_JUDGING = ("dims", "ambiguous", "timeout", "memory")
"""The options that validate has too."""


def checked(options: dict[str, Any]) -> None:
    """Refuse wrong options now, and not at the end of what the tool does first.

    Raises TypeError for options that `onnxpad.rewrite` does not have, beside `validate`, and
    RequestError for names that do not exist.
    """
    options = {name: value for name, value in options.items() if name != "validate"}
    inspect.signature(onnxpad.rewrite).bind(None, **options)
    layer = onnxpad.resolve("pytorch", "max_pool", input_shape=(1, 1, 4, 4), kernel_size=2)
    naming = {name: value for name, value in options.items() if name in _NAMING}
    onnxpad.rewrite(layer.to_model(), **naming)


def rewritten(
    model: Any,  # noqa: ANN401 - what rewrite takes
    *,
    validate: bool = False,
    **options: Any,  # noqa: ANN401 - as above
) -> tuple[onnxpad.Rewriting, str]:
    """What `onnxpad.rewrite` made of a model, and a line for the log of the tool.

    `validate` proves it against the model, and runs both where onnxruntime is installed. Raises
    RequestError where that does not agree, where the target still refuses or miscomputes a node,
    and what `rewrite` raises.
    """
    done = onnxpad.rewrite(model, **options)
    if done.unfit:
        one, more = done.unfit[0], len(done.unfit) - 1
        others = f" and {more} further node{'s' * (more > 1)}" if more else ""
        raise onnxpad.RequestError(
            f"there is no way to write '{one.node.label}'{others} for {done.target}: "
            f"{one.judgement.reason}; onnxpad inspect MODEL --target {done.target} shows all"
        )
    if not done.changed:
        return done, _told(done)
    return done, f"{_told(done)}; {_judged(model, done, options) if validate else _UNPROVED}"


_UNPROVED = "not proved: the option validate=True compares both models before anything is replaced"


def _judged(model: Any, done: onnxpad.Rewriting, options: dict[str, Any]) -> str:  # noqa: ANN401
    """'proved', or why not, what to do about it, and how runs found both alike."""
    asked = {name: options[name] for name in _JUDGING if name in options}
    found = onnxpad.validate(model, done.model, **asked)
    if not found.ok:
        raise onnxpad.RequestError(
            "what was rewritten is not validated, and the model stays as it was: "
            f"{found.verdict}: {found.reason}"
        )
    if found.verdict == "proved":
        return "proved"
    why = f": {found.proof.reason}{_helping(found)}" if found.proof else ""
    ran = f"both were run instead, and agree ({found.verdict}: {found.reason})"
    return f"not proved{why}{_open(found)}; {ran}"


def _helping(found: onnxpad.Validation) -> str:
    """What helps a proof that did not end, as this caller writes it."""
    proof = found.proof
    if proof is None:
        return ""
    more = "".join(f"; {name}={value!r} gives it more" for name, value in proof.limits.items())
    return more + (f"; fixed sizes help: dims={dict(proof.fixing)}" if proof.fixing else "")


def _open(found: onnxpad.Validation) -> str:
    """What to do about sizes that the file leaves open, where the reason does not say it."""
    proof = found.proof
    if proof is None or not proof.open_sizes:
        return ""
    names = ", ".join(map(repr, proof.open_sizes))
    where = "" if proof.fixing else " as dims, or export it with them"
    return f" (the file leaves {names} open: give the sizes that you run it at{where})"


def rewritten_in_place(path: Path, **options: Any) -> str:  # noqa: ANN401 - as above
    """Rewrite a file, which stays as it was where that raises; a line says what was done."""
    done, said = rewritten(path, **options)
    if done.changed:
        done.save(path, in_place=True)
    return said


def _told(done: onnxpad.Rewriting) -> str:
    """What was rewritten, left alone, and is not known."""
    counts = Counter(change.rule for change in done.changes)
    by = ", ".join(f"{name} {number}" for name, number in counts.items())
    nodes = len({change.node for change in done.changes})
    unknown = len(done.fitting.no_way) if done.fitting else 0
    if done.target and not (done.changed or done.skips or unknown):
        return f"onnxpad for {done.target}: it takes every operator that pads, nothing to rewrite"
    return (
        f"onnxpad{f' for {done.target}' if done.target else ''}: "
        f"{nodes} node{'s' * (nodes != 1)} rewritten{f' ({by})' if by else ''}, "
        f"{len(done.skips)} skipped{f', {unknown} unknown' if unknown else ''}{_hint(done)}"
    )


def _hint(done: onnxpad.Rewriting) -> str:
    """What to say of sizes, where that settles nodes of which the answer is not known."""
    opening = done.fitting.opening if done.fitting else None
    if opening is None or not opening.dims:
        return ""
    return (
        f" (the sizes are open: dims={opening.dims} settles {opening.settled} of {opening.stuck})"
    )
