"""onnx_ir, which holds the models of onnxscript and of torch.onnx.ONNXProgram: a pass.

onnx_ir.passes.Sequential(..., RewritePadding(target="opencv"))(program.model).model
"""

import logging
from typing import Any

import onnx_ir
from onnx_ir import passes

from onnxpad.integrations import rewritten

_LOGGER = logging.getLogger(__name__)


class RewritePadding(passes.FunctionalPass):
    """Gives a new model with its padding in another form, by the options of `onnxpad.rewrite`.

    `validate=True` proves it. Raises RequestError where a target takes a node in no form, and where
    that is not validated; a Sequential wraps it.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of onnxpad.rewrite
        self.options = options

    def call(self, model: onnx_ir.Model) -> passes.PassResult:
        """The model with its padding rewritten."""
        done, said = rewritten(model, **self.options)
        _LOGGER.info(said)
        return passes.PassResult(done.model if done.changed else model.clone(), done.changed)
