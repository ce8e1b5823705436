"""The release of onnxruntime that every rewrite must run right in, whatever it is written for."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from onnxpad.runtimes.targets import Target, find_target

_RELEASE = "1.31"
"""The newest that folds Pads into pools wrongly; what 1.32 does wrong, it does as well."""


@cache
def reference() -> Target:
    """Its rows, under the name without a release."""
    found = find_target(f"onnxruntime@{_RELEASE}")
    return replace(found, name="onnxruntime", history=found.rows)
