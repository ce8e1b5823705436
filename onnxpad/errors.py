"""The exception tree.

OnnxpadError
├── ModelError           the model cannot be read, is invalid, or cannot be written
├── RequestError         what was asked for does not exist or contradicts itself
├── RuntimeUnavailable   a device or runtime was asked for that is not there
├── LimitMet             native code was ended at the time or the memory that it may take
└── InternalError        onnxpad broke one of its own laws: please report it
"""

from collections.abc import Iterable


class OnnxpadError(Exception):
    """Root of every error that onnxpad raises on purpose."""


class ModelError(OnnxpadError):
    """A model cannot be read, is not valid, or cannot be written; names the file or node."""


class RequestError(OnnxpadError):
    """A name, option or value in the request is wrong; suggests the nearest one where it can."""


class RuntimeUnavailable(OnnxpadError):
    """A device or runtime was asked for that cannot be opened; nothing else is tried instead."""


class LimitMet(OnnxpadError):
    """Native code was ended at the time or the memory that it may take; says what to type."""


class InternalError(OnnxpadError):
    """A rewrite broke a law that onnxpad promises to keep; nothing was written."""


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names that are most like one that is not known; capitals do not matter."""
    from difflib import get_close_matches  # only errors need it

    folded = {one.casefold(): one for one in known}
    return [folded[match] for match in get_close_matches(name.casefold(), folded, n=most)]
