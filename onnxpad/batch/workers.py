"""Workers as executors: Dask's, and processes of onnxpad's own, which run `python -m` this module.

A process that ends, for whatever reason, costs its own model another try and nothing else: an
executor of the standard library is broken then.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from onnxpad import processes
from onnxpad.batch.course import answer
from onnxpad.errors import RuntimeUnavailable

MODULE = "onnxpad.batch.workers"
TRIES = 2
"""Processes that may end over one model before it is given up."""
_LONG = 7 * 86_400.0  # seconds: what is not bounded beforehand has limits of its own
_COLLECT_RARELY = 100_000
_SCHEDULER_SECONDS = 10


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
        client = Client(address, timeout=_SCHEDULER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RuntimeUnavailable(
            f"no Dask scheduler answers at '{address}' ({error})\n"
            "  try     dask scheduler, which prints its address, and dask worker ADDRESS"
        ) from error
    with client:
        yield client.get_executor()


class Processes(ThreadPoolExecutor):
    """So many worker processes: plain `python -m` children that end with this process.

    Each thread has a child of its own. What is submitted has to be `answer`; requests and answers
    are plain data.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._own = threading.local()
        self._children: set[processes.Child] = set()
        self._ended = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        """Hand one request to the next process that is free."""
        if kwargs or len(args) != 1 or fn is not answer:
            raise TypeError("these processes run `answer`, and nothing else")
        return super().submit(self._done, args[0])

    def end(self) -> None:
        """End the processes now, whatever they do; what they have half written goes with them."""
        self._ended = True
        self.shutdown(wait=False, cancel_futures=True)
        for child in tuple(self._children):
            child.end()

    def _done(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer of a process; one that ends costs the request another try."""
        for left in reversed(range(TRIES)):
            try:
                reply = self._child().call({"do": "answer", "request": request}, seconds=_LONG)
            except processes.ChildEnded:
                if self._ended or not left:
                    raise
            else:
                answered: dict[str, Any] = reply.head["answer"]
                return answered
        raise AssertionError

    def _child(self) -> processes.Child:
        """The process of this thread, which is started where there is none."""
        child: processes.Child | None = getattr(self._own, "child", None)
        if child is None or not child.alive:
            child = self._own.child = processes.Child(MODULE)
            self._children.add(child)
        return child


def _answered(head: dict[str, Any], _buffers: object) -> processes.Reply:
    return processes.Reply({"answer": answer(head["request"])}, [])


if __name__ == "__main__":
    gc.set_threshold(_COLLECT_RARELY)
    processes.serve({"answer": _answered})
