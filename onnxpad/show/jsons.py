"""Reports as JSON: one line for each, so that several models make JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any


def json_line(data: Mapping[str, Any]) -> str:
    """Plain data as one line of JSON, ended by a newline; -inf and the like become texts."""
    try:
        text = json.dumps(data, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(data), allow_nan=False)
    return text + "\n"


def _finite(value: object) -> object:
    match value:
        case float() if not isfinite(value):
            return str(value)
        case Mapping():
            return {key: _finite(item) for key, item in value.items()}
        case str():
            return value
        case Sequence():
            return [_finite(item) for item in value]
        case _:
            return value
