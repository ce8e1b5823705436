"""Reproducers as two verbs write them: explain for a fact of a target, inspect for a node."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from onnxpad import __version__
from onnxpad.cli.exits import FINE
from onnxpad.cli.streams import show

if TYPE_CHECKING:
    from onnxpad.reproducing import Reproducer


def written(made: Callable[[], Reproducer], folder: str, *, as_json: bool) -> int:
    """Write what `made` gives into a folder of its own and say what is in it.

    Raises RequestError where the folder holds other files, before there is work to lose.
    """
    from onnxpad.reports import json_line
    from onnxpad.reproducing import FILES, refuse_folder
    from onnxpad.show.reproducers import reproducer_text

    refuse_folder(folder, FILES)
    found = made().save(folder, __version__)
    if as_json:
        sys.stdout.write(json_line(found.to_json()))
    else:
        show(reproducer_text(found))
    return FINE
