"""What all verbs of the public API share: what their arguments may be, and faults of files."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from onnxpad.errors import RequestError, blaming_the_file

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Check = Callable[[object], bool]


def is_text(value: object) -> bool:
    """Whether it is one text."""
    return isinstance(value, str)


def is_path(value: object) -> bool:
    """Whether it names a file."""
    return isinstance(value, str | os.PathLike)


def _is_texts(value: object) -> bool:
    if not isinstance(value, Collection):
        return isinstance(value, Iterable)
    return all(map(is_text, value))


def _are_targets(value: object) -> bool:
    several = isinstance(value, Collection) and not is_text(value)
    return all(is_text(one) or callable(one) for one in (value if several else [value]))  # type: ignore[attr-defined]


def _is_count(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_facts(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        is_text(fact) or _is_count(fact) for fact in value.values()
    )


def _is_flag(value: object) -> bool:
    return isinstance(value, bool) or value in (0, 1)


_IN_FULL = 200
"""Characters of a value that is repeated in an error."""
_DIMS = "a dict of numbers and facts, such as {'height': 640, 'width': '%32=0'}"
_FLAGS = "allow_unknown although_unfit legacy_split strict proof_only run_only tf32"
ARGUMENTS: dict[str, tuple[Check, str]] = {
    "target": (_are_targets, "a name, or a list of names, or a function that runs a model"),
    "live": (
        lambda value: is_path(value) or _is_flag(value),
        "True, False, or the path of a Python that has the runtime",
    ),
    **dict.fromkeys(("passes", "prefer", "exclude"), (_is_texts, "a name, or a list of names")),
    "nodes": (_is_texts, "a glob over addresses, or a list of them"),
    **dict.fromkeys(("to", "source"), (is_text, "a name")),
    "plan": (
        lambda value: is_path(value) or isinstance(value, Mapping) or hasattr(value, "entries"),
        "a Plan, its JSON as a dict, or the path of a file",
    ),
    "dims": (_are_facts, _DIMS),
    **dict.fromkeys(("samples", "seed"), (_is_count, "a whole number")),
    **dict.fromkeys(("budget", "timeout"), (_is_number, "a number of seconds")),
    "memory": (lambda value: is_text(value) or _is_count(value), "bytes, or a text such as '4G'"),
    "progress": (callable, "a function"),
    "device": (lambda value: value in ("auto", "cuda", "cpu"), "'auto', 'cuda' or 'cpu'"),
    "ambiguous": (lambda value: value in ("auto_pad", "pads"), "'auto_pad' or 'pads'"),
    **dict.fromkeys(_FLAGS.split(), (_is_flag, "True or False")),
}
"""What arguments of the verbs may be, by name, besides None where that is the default."""


def keyword_defaults(function: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever is decorated
    """The keyword arguments of a verb, with their defaults."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function.__kwdefaults__ or {}


def verb(
    **others: tuple[Check, str],
) -> Callable[[Callable[Given, Answer]], Callable[Given, Answer]]:
    """A verb of the public API: says which argument it cannot take, and blames files for faults.

    `others` are arguments that mean something else here than in `ARGUMENTS`. The verb then raises
    RequestError for values of the wrong kind, and ModelError as `blaming_the_file` does.
    """
    known = ARGUMENTS | others

    def decorate(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
        defaults = keyword_defaults(function)

        @wraps(function)
        def called(*args: Given.args, **given: Given.kwargs) -> Answer:
            for name, value in given.items():
                if name in known and value is not defaults.get(name, known):
                    refuse_unless(*known[name], name, value)
            with blaming_the_file():
                return function(*args, **given)

        return called

    return decorate


def refuse_unless(fits: Check, wanted: str, name: str, value: object) -> None:
    """RequestError where the value of an argument is of the wrong kind."""
    try:
        fine = fits(value)
    except (TypeError, ValueError):  # an array has no truth value
        fine = False
    if not fine:
        said = repr(value)
        if len(said) > _IN_FULL:
            said = f"{type(value).__name__} ({len(said):,} characters in print)"
        raise RequestError(f"{name} is {said}, and must be {wanted}")
