"""Names that are commas alone, which are not several names either."""

import pytest

from onnxpad.errors import RequestError
from onnxpad.runtimes.targets import find_target


@pytest.mark.parametrize("name", [",", ",,,", " , "])
def test_commas_alone_are_no_target(name: str) -> None:
    with pytest.raises(RequestError, match="no target is called"):
        find_target(name)
