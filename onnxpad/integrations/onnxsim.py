"""onnxsim: a custom rewriter.

onnxsim.simplify(model, custom_rewriter=rewriter(target="opencv"))
"""

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import onnxpad
from onnxpad.integrations import rewritten

_LOGGER = logging.getLogger(__name__)
_ROUNDS = 5
"""So often no pass rewrites the same node anew, unless onnxsim takes it back in between."""


def rewriter(**options: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - those of onnxpad.rewrite
    """What onnxsim calls in every round, for one `simplify`.

    It takes a ModelProto, and gives another or, where nothing is left to rewrite, False. It raises
    RequestError where a target takes a node in no form, where `validate=True` does not prove it or
    find it alike in runs, and where an optimisation of onnxsim takes back what a pass does.
    """
    seen = Counter[tuple[str, str]]()

    def rewrite(model: Any) -> Any:  # noqa: ANN401 - a ModelProto
        done, said = rewritten(model, **options)
        seen.update(dict.fromkeys((one.rule, one.node.label) for one in done.changes).keys())
        for (rule, node), rounds in seen.items():
            if rounds >= _ROUNDS:
                raise onnxpad.RequestError(
                    f"onnxsim takes back what {rule} does to '{node}': leave its optimisation out, "
                    "as with skipped_optimizers=['fuse_pad_into_conv', 'fuse_pad_into_pool'], or "
                    "rewrite what onnxsim.simplify gives"
                )
        _LOGGER.info(said)
        return done.model if done.changed else False

    return rewrite
