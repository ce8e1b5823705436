"""Networks of torchvision, timm, Keras and transformers at full size, with random weights.

    PYTHON tests/benchmarks/exporting.py FOLDER [NAME ...]

PYTHON is that of an environment with what exporting.txt lists. Writes NAME.onnx and NAME.npz, a
sample of its inputs, for one network after another; what is there already stays.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("KERAS_BACKEND", "torch")

import numpy as np
import torch

SEED = 20271122
DATA = 224


class Source(NamedTuple):
    """How a network is made, the shape of its input, and which of torch's exporters writes it.

    `opened` are axes of the input that stay open in the file.
    """

    make: Callable[[], torch.nn.Module]
    shape: tuple[int, ...] = (1, 3, DATA, DATA)
    dynamo: bool = False
    opened: tuple[int, ...] = ()


def _vision(name: str, **given: Any) -> Callable[[], torch.nn.Module]:
    def make() -> torch.nn.Module:
        import torchvision

        return torchvision.models.get_model(name, weights=None, **given)

    return make


def _timm(name: str) -> Callable[[], torch.nn.Module]:
    def make() -> torch.nn.Module:
        import timm

        return timm.create_model(name, pretrained=False, exportable=True)

    return make


class _Result(torch.nn.Module):
    """The first tensor that a model of transformers gives, under no name of its own."""

    def __init__(self, inner: torch.nn.Module, method: str = "forward") -> None:
        super().__init__()
        self.inner = inner
        self.method = method

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = getattr(self.inner, self.method)(x)
        return found if isinstance(found, torch.Tensor) else found[0]


def _hub(model: str, config: str, method: str = "forward", **given: Any) -> Any:
    def make() -> torch.nn.Module:
        import transformers

        settings = getattr(transformers, config)(**given)
        settings.return_dict = False
        return _Result(getattr(transformers, model)(settings), method)

    return make


def _keras(name: str, size: int = DATA) -> Callable[[], torch.nn.Module]:
    def make() -> torch.nn.Module:
        import keras

        kind = getattr(keras.applications, name)
        keras.utils.set_random_seed(SEED)
        return _Keras(kind(weights=None, input_shape=(size, size, 3)))

    return make


class _Keras(torch.nn.Module):
    """Keras' axes are batch, height, width, channels; so is the input of the file."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x, training=False)


_LAST = (1, DATA, DATA, 3)
NETWORKS: dict[str, Source] = {
    "torchvision-resnet50": Source(_vision("resnet50"), opened=(0,)),
    "torchvision-googlenet": Source(_vision("googlenet", init_weights=False, aux_logits=False)),
    "torchvision-squeezenet1_1": Source(_vision("squeezenet1_1")),
    "torchvision-inception_v3": Source(
        _vision("inception_v3", init_weights=False, aux_logits=False), (1, 3, 299, 299)
    ),
    "torchvision-densenet121": Source(_vision("densenet121")),
    "torchvision-mobilenet_v3_large": Source(_vision("mobilenet_v3_large"), dynamo=True),
    "torchvision-shufflenet_v2_x1_0": Source(_vision("shufflenet_v2_x1_0"), dynamo=True),
    "torchvision-convnext_tiny": Source(_vision("convnext_tiny")),
    "torchvision-deeplabv3_resnet50": Source(
        lambda: _Segmented(_vision("deeplabv3_resnet50", weights_backbone=None)())
    ),
    "torchvision-swin_t": Source(_vision("swin_t")),
    "torchvision-r3d_18": Source(_vision("r3d_18"), (1, 3, 8, 112, 112)),
    "timm-tf_efficientnet_b0": Source(_timm("tf_efficientnet_b0")),
    "timm-tf_efficientnetv2_b0-open": Source(_timm("tf_efficientnetv2_b0"), opened=(2, 3)),
    "timm-tf_mobilenetv3_large_100": Source(_timm("tf_mobilenetv3_large_100"), dynamo=True),
    "timm-tf_mixnet_s": Source(_timm("tf_mixnet_s")),
    "timm-resnetv2_50x1_bit": Source(_timm("resnetv2_50x1_bit")),
    "timm-hrnet_w18_small": Source(_timm("hrnet_w18_small")),
    "timm-ese_vovnet19b_dw": Source(_timm("ese_vovnet19b_dw"), dynamo=True),
    "timm-legacy_seresnet50": Source(_timm("legacy_seresnet50")),
    "timm-inception_resnet_v2": Source(_timm("inception_resnet_v2"), (1, 3, 299, 299)),
    "timm-res2net50_26w_4s": Source(_timm("res2net50_26w_4s")),
    "timm-tf_inception_v3": Source(_timm("tf_inception_v3"), (1, 3, 299, 299), dynamo=True),
    "keras-MobileNetV2": Source(_keras("MobileNetV2"), _LAST),
    "keras-EfficientNetB0": Source(_keras("EfficientNetB0"), _LAST),
    "keras-ResNet50V2": Source(_keras("ResNet50V2"), _LAST, dynamo=True),
    "keras-Xception": Source(_keras("Xception"), _LAST),
    "transformers-mobilenet_v1": Source(_hub("MobileNetV1Model", "MobileNetV1Config")),
    "transformers-mobilenet_v2": Source(
        _hub("MobileNetV2ForImageClassification", "MobileNetV2Config"), dynamo=True
    ),
    "transformers-mobilevit": Source(
        _hub("MobileViTForImageClassification", "MobileViTConfig"), (1, 3, 256, 256)
    ),
    "transformers-wav2vec2": Source(_hub("Wav2Vec2Model", "Wav2Vec2Config"), (1, 16000)),
    "transformers-hifigan": Source(_hub("SpeechT5HifiGan", "SpeechT5HifiGanConfig"), (1, 50, 80)),
    "transformers-encodec": Source(_hub("EncodecModel", "EncodecConfig", "encoder"), (1, 1, 16000)),
}


class _Segmented(torch.nn.Module):
    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)["out"]


def export(name: str, folder: Path) -> None:
    """Write one network and a sample of its input.

    Statistics of batch normalisations are random too: as a library makes them, they do nothing.
    """
    source = NETWORKS[name]
    torch.manual_seed(SEED)
    model = source.make().eval()
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.affine:  # noqa: SLF001
            torch.nn.init.normal_(module.running_mean, std=0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
    x = torch.randn(*source.shape)
    path = folder / f"{name}.onnx"
    names = {axis: f"d{axis}" for axis in source.opened}
    with torch.no_grad():
        if source.dynamo:
            program = torch.onnx.export(model, (x,), dynamo=True, verbose=False)
            program.save(str(path), external_data=False)
            (only,) = [value.name for value in program.model.graph.inputs]
        else:
            only = "x"
            torch.onnx.export(
                model,
                (x,),
                str(path),
                dynamo=False,
                opset_version=17,
                input_names=[only],
                output_names=["y"],
                dynamic_axes={only: names} if names else None,
            )
    np.savez(folder / f"{name}.npz", **{only: x.numpy()})


def main(folder: str, *chosen: str) -> int:
    """Export what is not there yet; say what each took."""
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in chosen or NETWORKS:
        if (into / f"{name}.npz").exists():
            continue
        started = time.monotonic()
        try:
            export(name, into)
        except Exception as error:  # noqa: BLE001 - one network of many, and the reason is printed
            failed += 1
            sys.stdout.write(f"{name}: {type(error).__name__}: {str(error)[:300]}\n")
        else:
            size = (into / f"{name}.onnx").stat().st_size / 2**20
            sys.stdout.write(f"{name}: {size:.0f} MB, {time.monotonic() - started:.0f} s\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
