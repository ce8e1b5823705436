"""Whether the installed onnxruntime is one whose Pad fusion harms pools: 1.32 ended that."""

from __future__ import annotations

from typing import Final

import pytest

_VERSION: str = pytest.importorskip("onnxruntime").__version__
HARMS_POOLS: Final = tuple(int(number) for number in _VERSION.split(".")[:2]) < (1, 32)
where_pools_are_harmed = pytest.mark.skipif(
    not HARMS_POOLS,
    reason=f"onnxruntime {_VERSION} is installed, and Pad fusion harms pools up to 1.31 alone",
)
