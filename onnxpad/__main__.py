"""The entry point: `onnxpad` and `python -m onnxpad`, and how signals end it."""

import os
import sys
from _thread import start_new_thread

TYPE_CHECKING = False  # typing takes longer to import than all of this, and so does enum of signal
if TYPE_CHECKING:
    import signal
    from types import FrameType
else:
    import _signal as signal

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_watched: list[int] = []
"""The pipe through which signals reach the thread that ends the process."""


def main() -> None:
    """Run the command line; a signal ends it at once and leaves nothing half-written."""
    _open_standard_streams()
    _end_on_signals()
    from onnxpad.cli import main as run

    try:
        run()
    except SystemExit as leaving:
        if isinstance(leaving.code, int):
            _leave(leaving.code)
        raise


def _leave(status: int) -> None:
    """End the process, and let the system free what it holds: Python takes long over that.

    Not where a thread is to go on, or something waits for the end of the program.
    """
    import atexit
    from contextlib import suppress

    threads = sys.modules.get("threading")
    others = set(threads.enumerate()) - {threads.main_thread()} if threads else ()
    watched = sys.getprofile() or sys.gettrace() or sys.flags.inspect
    if watched or any(not one.daemon for one in others):
        return
    atexit._run_exitfuncs()  # noqa: SLF001 - as Python does it, before what is left out here
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # none, or nobody reads: that was said
            stream.flush()
    os._exit(status)


def _open_standard_streams() -> None:
    """No file that is opened later gets the number of a closed stream, and what is said there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - its only one


def _end_on_signals() -> None:
    """Let one thread end the process: the main one may be in native code, which hears no signal.

    What was ignored stays ignored, as under nohup.
    """
    if _watched:
        return
    _watched[:] = os.pipe()
    if os.name != "nt":
        os.set_blocking(_watched[1], False)
    signal.set_wakeup_fd(_watched[1], warn_on_full_buffer=False)
    start_new_thread(_watch, (_watched[0],))
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _left_to_the_thread)


def _left_to_the_thread(_number: int, _frame: "FrameType | None") -> None:
    """Do nothing: an exception could arise anywhere, also where it is swallowed."""


def _watch(reading: int) -> None:
    ending = {getattr(signal, name, None) for name in _ENDING}
    while (number := os.read(reading, 1)[0]) not in ending:
        pass
    try:
        _clean_up()
    finally:
        os._exit(128 + number)


def _clean_up() -> None:
    """Remove what is half-written, take the line that says what is done away, and end children.

    They come last: the main thread would have something to say about them.
    """
    for module, name in (("model.files.atomic", "abandon"), ("show.progress", "erase_all")):
        if clean := getattr(sys.modules.get(f"onnxpad.{module}"), name, None):
            clean()
    end_all = getattr(sys.modules.get("onnxpad.processes"), "end_all", None)
    if end_all is not None:
        end_all(for_good=True)


if __name__ == "__main__":
    main()
