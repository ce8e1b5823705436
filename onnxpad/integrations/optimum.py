"""optimum: every file of an ONNX export, before optimum compares it with PyTorch.

with rewriting(target="opencv"):
    main_export("google/mobilenet_v2_1.0_224", "folder")
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optimum.exporters.onnx import OnnxConfig

import onnxpad
from onnxpad.integrations import checked, rewritten_in_place

_LOGGER = logging.getLogger(__name__)


@contextmanager
def rewriting(**options: Any) -> Iterator[None]:  # noqa: ANN401 - those of onnxpad.rewrite
    """Rewrite what main_export and onnx_export_from_model write inside of the `with`.

    It is a step of optimum's post-processing; `validate=True` proves each file. Where that fails,
    or a target takes a node in no form, the export fails with RequestError as its cause. Raises
    RequestError where optimum post-processes nothing, and for wrong options at once.
    """
    checked(options)
    original = OnnxConfig.post_process_exported_models
    files = list[Path]()

    def post_process(self: Any, path: Any, models: Any, names: Any) -> Any:  # noqa: ANN401
        for file in (Path(path, name) for name in names):
            _LOGGER.info("%s: %s", file, rewritten_in_place(file, **options))
            files.append(file)
        return original(self, path, models, names)

    OnnxConfig.post_process_exported_models = post_process
    try:
        yield
    finally:
        OnnxConfig.post_process_exported_models = original
    if not files:
        raise onnxpad.RequestError(
            "optimum post-processed no file, as with ORTModel.from_pretrained, diffusion pipelines "
            "and no_post_process=True; after the export: "
            "onnxpad rewrite FOLDER --in-place --validate"
        )
