"""Olive: the pass OnnxpadRewrite, for `olive run --package-config`."""

import inspect
import logging
from pathlib import Path
from typing import Any

from olive.hardware import AcceleratorSpec
from olive.model import ONNXModelHandler
from olive.model.utils import resolve_onnx_path
from olive.passes import Pass
from olive.passes.pass_config import BasePassConfig, PassConfigParam

import onnxpad
from onnxpad.integrations import rewritten

_LOGGER = logging.getLogger("olive.onnxpad")
"""Olive shows what is below its own."""
_OPTIONS = {
    name: option.default
    for name, option in inspect.signature(onnxpad.rewrite).parameters.items()
    if option.kind is option.KEYWORD_ONLY and name != "progress"
} | {"validate": False}


class OnnxpadRewrite(Pass):
    """Writes the padding of an ONNX model in another form, by the options of `onnxpad.rewrite`.

    `validate` proves it. Raises ValueError, which Olive ends with at once, where a target takes a
    node in no form, where that is not validated, and for wrong options.
    """

    @classmethod
    def _default_config(cls, accelerator_spec: AcceleratorSpec) -> dict[str, PassConfigParam]:
        del accelerator_spec
        said = "As of onnxpad.rewrite."
        return {
            name: PassConfigParam(type_=Any, default_value=default, description=said)
            for name, default in _OPTIONS.items()
        }

    def _run_for_config(
        self, model: ONNXModelHandler, config: type[BasePassConfig], output_model_path: str
    ) -> ONNXModelHandler:
        path = resolve_onnx_path(output_model_path, Path(model.model_path).name)
        try:
            options = {name: getattr(config, name) for name in _OPTIONS}
            done, said = rewritten(model.model_path, **options)
        except onnxpad.RequestError as error:
            raise ValueError(str(error)) from error
        done.save(path)
        _LOGGER.info(said)
        return ONNXModelHandler(model_path=path)
