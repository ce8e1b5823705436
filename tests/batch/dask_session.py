"""A Dask cluster of two workers, one of which is killed while it works; run by test_dask.py."""

import json
import os
import signal
import sys
import threading
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import onnxpad
from onnxpad.batch import workers
from tests.command import run


def kill_after(some: int, pid: int, folder: Path) -> None:
    """Kill a process when so many files are in the folder."""
    while not folder.is_dir() or len(list(folder.glob("*.onnx"))) < some:
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)


def said(*arguments: str) -> str:
    """The last line of a command."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
        run(arguments)
    return f"{out.getvalue()}{error.getvalue()}".splitlines()[-1]


def main() -> None:
    """`dask_session.py MODELS OUTPUT`: prints what became of the models."""
    from distributed import Client, LocalCluster

    models, output = map(Path, sys.argv[1:])
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        victim, other = client.run(os.getpid).values()
        threading.Thread(target=kill_after, args=(12, victim, output), daemon=True).start()
        done = onnxpad.each("rewrite", models, output=output, executor=client.get_executor())
        now = set(client.run(os.getpid).values())
        some = [one.file for one in done.outcomes[:2]]
        line = said("inspect", *some, "--dask", cluster.scheduler_address)
    workers._SCHEDULER_SECONDS = 1  # noqa: SLF001  nobody answers, however long it waits
    told: dict[str, Any] = {"summary": done.summary, "files": [one.file for one in done.outcomes]}
    told |= {"killed": victim not in now, "stayed": other in now, "code": done.code}
    told |= {"line": line, "nobody": said("inspect", *some, "--dask", "tcp://127.0.0.1:1")}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
