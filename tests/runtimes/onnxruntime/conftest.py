"""The option for a wider sweep over what onnxruntime's Pad fusion may meet."""

import pytest


@pytest.fixture
def fusion_rows(request: pytest.FixtureRequest) -> int:
    found: int = request.config.getoption("--fusion-rows")
    return found
