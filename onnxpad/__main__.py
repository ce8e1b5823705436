"""The entry point: `onnxpad` and `python -m onnxpad`."""

import signal
import sys

INTERRUPTED, TERMINATED = 130, 143


def main() -> None:
    """Run the command line; an interrupt or a polite kill leaves nothing half-written."""
    try:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
        from onnxpad.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
