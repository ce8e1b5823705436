"""Polygraphy: a loader, and the runner --onnxpad of `polygraphy run`, which finds it by itself.

polygraphy run model.onnx --onnxrt --onnxpad --onnxpad-target onnxruntime
"""

from argparse import ArgumentTypeError
from typing import Any

from polygraphy import mod, util
from polygraphy.backend.base import BaseLoader
from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import OnnxLoadArgs, OnnxrtSessionArgs
from polygraphy.tools.args.base import BaseArgs, BaseRunnerArgs
from polygraphy.tools.script import make_invocable

from onnxpad.integrations import rewritten

_HERE = "onnxpad.integrations.polygraphy"
_RUNS = ("onnxruntime", "ort")
"""The target, and its other name, that the runner is itself."""
_ONNXRUNTIME = mod.lazy_import("onnxruntime")


class RewritePadding(BaseLoader):
    """Loads a model with its padding rewritten.

    `model` is a ModelProto, a path or a loader of one, `options` are those of `onnxpad.rewrite`;
    `validate=True` proves it. Calling it raises RequestError where that fails, and where a target
    takes a node in no form.
    """

    def __init__(self, model: Any, **options: Any) -> None:  # noqa: ANN401
        self._model, self._options = model, options

    @util.check_called_by("__call__")
    def call_impl(self) -> Any:  # noqa: ANN401
        """The ModelProto as onnxpad writes it."""
        model, _ = util.invoke_if_callable(self._model)
        done, said = rewritten(model, **self._options)
        G_LOGGER.info(said)
        return done.model


def _fact(text: str) -> tuple[str, int | str]:
    """('height', 640) of 'height=640', ('width', '%32=0') of 'width%32=0'."""
    name, sign, divisible = text.partition("%")
    if sign:
        return name, f"%{divisible}"
    name, _, size = text.partition("=")
    if not size.isdecimal():
        raise ArgumentTypeError(f"cannot read '{text}': expected NAME=SIZE or 'NAME%32=0'")
    return name, int(size)


def _as_installed(target: str) -> str:
    """The release of onnxruntime that the runner runs, where none is named."""
    if target.casefold() not in _RUNS:
        return target
    return f"onnxruntime@{'.'.join(_ONNXRUNTIME.__version__.split('.')[:2])}"


class OnnxpadRunnerArgs(BaseRunnerArgs):
    """onnxpad Inference: running the model that onnxpad writes in ONNX-Runtime.

    The target onnxruntime without a release is the installed one.

    Depends on:

        - OnnxLoadArgs
        - OnnxrtSessionArgs
    """

    def get_name_opt_impl(self) -> tuple[str, str]:
        """The name of the runner and its option."""
        return "onnxpad", "onnxpad"

    def add_parser_args_impl(self) -> None:
        """Add what `onnxpad rewrite` has as --target, --pass and --dim."""
        kinds: dict[str, Any] = {"target": str, "pass": str, "dim": _fact}
        for name, kind in kinds.items():
            said = f"As --{name} of onnxpad rewrite. Repeatable."
            self.group.add_argument(f"--onnxpad-{name}", type=kind, action="append", help=said)

    def parse_impl(self, args: Any) -> None:  # noqa: ANN401 - argparse
        """Keep the options as `onnxpad.rewrite` takes them."""
        self.options = {
            "target": [_as_installed(name) for name in args.onnxpad_target or ()] or None,
            "passes": args.onnxpad_pass,
            "dims": dict(args.onnxpad_dim or ()) or None,
        }

    def add_to_script_impl(self, script: Any) -> None:  # noqa: ANN401 - of Polygraphy
        """Load, rewrite and run the model in the script that Polygraphy makes."""
        loader = self.arg_groups[OnnxLoadArgs].add_to_script(script)
        script.add_import(imports=["RewritePadding"], frm=_HERE)
        loader = script.add_loader(
            make_invocable("RewritePadding", loader, **self.options), "rewrite_padding"
        )
        script.add_import(imports=["BytesFromOnnx"], frm="polygraphy.backend.onnx")
        loader = script.add_loader(make_invocable("BytesFromOnnx", loader), "rewritten_bytes")
        script.add_import(
            imports=["OnnxrtRunner", "SessionFromOnnx"], frm="polygraphy.backend.onnxrt"
        )
        providers = self.arg_groups[OnnxrtSessionArgs].providers
        session = make_invocable("SessionFromOnnx", loader, providers=providers)
        loader = script.add_loader(session, "rewritten_session")
        script.add_runner(make_invocable("OnnxrtRunner", loader, name="onnxpad"))


def export_argument_groups() -> list[BaseArgs]:
    """What the entry point polygraphy.run.plugins gives to `polygraphy run`."""
    return [OnnxpadRunnerArgs()]
