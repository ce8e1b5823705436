"""Executors of engines that somebody else runs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from onnxpad.errors import RuntimeUnavailable

_SECONDS = 10


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The workers of a Dask scheduler, as long as the block lasts.

    Raises RuntimeUnavailable where `distributed` is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise RuntimeUnavailable(
            f"Dask cannot be loaded ({error})\n  try     pip install distributed"
        ) from error
    try:
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RuntimeUnavailable(
            f"no Dask scheduler answers at '{address}' ({error})\n"
            "  try     dask scheduler, which prints its address, and dask worker ADDRESS"
        ) from error
    with client:
        yield client.get_executor()
