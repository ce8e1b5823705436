"""`validate` by runs alone, which most tests here are about."""

from __future__ import annotations

from functools import partial

import onnxpad

validate = partial(onnxpad.validate, run_only=True)
