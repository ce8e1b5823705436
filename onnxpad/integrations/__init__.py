"""onnxpad inside of other tools, one module each: `onnxpad explain integrations` shows them all.

Every module takes the options of `onnxpad.rewrite`, and `validate=True`, and uses the public API
alone. It imports the tool that it is for, and is itself imported only when asked for.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import onnxpad

_NAMING = ("target", "passes", "prefer", "exclude")
"""The options that name passes and targets, whatever the model is."""
_JUDGING = ("dims", "ambiguous", "timeout", "memory")
"""The options that validate has too."""
_UNPROVED = "not proved: the option validate=True compares both models before anything is replaced"


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
    """What `onnxpad.rewrite` made of a model, and its report for the log of the tool.

    `validate` proves it against the model, and runs both where onnxruntime is installed. Raises
    RequestError where that does not agree, where the target still refuses or miscomputes a node,
    and what `rewrite` raises.
    """
    done = onnxpad.rewrite(model, **options)
    if done.unfit:
        more = f" and {len(done.unfit) - 1} more" if done.unfit[1:] else ""
        raise onnxpad.RequestError(
            f"there is no way to write a node{more} for {done.target}: {done.unfit[0]}; "
            f"onnxpad inspect MODEL --target {done.target} shows all"
        )
    headline, *lines = done.to_text(f"onnxpad for {done.target or 'this model'}").splitlines()
    if done.changed:
        headline += f"; {_judged(model, done, options) if validate else _UNPROVED}"
    return done, "\n".join((headline, *lines))


def _judged(model: Any, done: onnxpad.Rewriting, options: dict[str, Any]) -> str:  # noqa: ANN401
    """'proved', or how runs found both alike and why there is no proof."""
    asked = {name: options[name] for name in _JUDGING if name in options}
    found = onnxpad.validate(model, done.model, **asked)
    if not found.ok:
        raise onnxpad.RequestError(
            "what was rewritten is not validated, and the model stays as it was: "
            f"{found.verdict}: {found.reason}"
        )
    if found.verdict == "proved":
        return "proved"
    why = f"; not proved: {found.proof.obstacle}" if found.proof else ""
    return f"{found.verdict}: {found.reason}{why}"


def rewritten_in_place(path: Path, **options: Any) -> str:  # noqa: ANN401 - as above
    """Rewrite a file, which stays as it was where that raises; the report says what was done."""
    done, said = rewritten(path, **options)
    if done.changed:
        done.save(path, in_place=True)
    return said
