"""The site as all of its tests see it, built once."""

from __future__ import annotations

import pytest

from onnxpad.show.site import site_files


@pytest.fixture(scope="session")
def files() -> dict[str, bytes]:
    return site_files("1.2")
