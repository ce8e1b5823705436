"""Which padded nodes a user means by globs over their addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from onnxpad.errors import RequestError
from onnxpad.graph.reading.ordering import Address
from onnxpad.graph.reading.survey import Survey

_SHOWN = 8


def selection(survey: Survey, nodes: str | Sequence[str] | None) -> Callable[[Address], bool]:
    """Whether a node matches one of the globs; all do for None, and none for an empty list.

    A glob may also be a label as it stands, whatever characters are in it. Raises RequestError
    for a glob that matches no padded node.
    """
    if nodes is None:
        return lambda _: True
    globs = [nodes] if isinstance(nodes, str) else list(nodes)
    labels = [site.address.label for site in survey.sites()] if globs else []
    for glob in globs:
        if not any(_matches(label, glob) for label in labels):
            raise _nothing(glob, labels)
    return lambda address: any(_matches(address.label, glob) for glob in globs)


def _matches(label: str, glob: str) -> bool:
    return label == glob or fnmatchcase(label, glob)


def known_names(survey: Survey, names: Sequence[str], asker: str) -> None:
    """Check labels of single nodes, which are no globs; RequestError for one that is not there.

    `asker` is what names them, as messages call it.
    """
    labels = [site.address.label for site in survey.sites()] if names else []
    for name in names:
        if name not in labels:
            raise RequestError(f"{asker}: {_nothing(name, labels)}")


def _nothing(wanted: str, labels: Sequence[str]) -> RequestError:
    shown = ", ".join(labels[:_SHOWN]) + (" ..." if len(labels) > _SHOWN else "")
    return RequestError(f"no padded node matches '{wanted}'; there are: {shown or 'none'}")
