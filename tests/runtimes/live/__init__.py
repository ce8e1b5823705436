"""The deployment runtimes that the tests can run a model in, each in an environment of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Runtime:
    """A runtime under the name of its rewriting target, older ones with their release.

    `requirements` is a file in requirements/ (.txt for pip, .json for npm), `worker` a file in
    workers/, `variables` are set for the worker, `programs` must be on the PATH.
    """

    name: str
    requirements: str
    worker: str
    variables: Mapping[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()

    @property
    def requirements_file(self) -> Path:
        return HERE / "requirements" / self.requirements

    @property
    def worker_file(self) -> Path:
        return HERE / "workers" / self.worker


_ALL = (
    Runtime("onnxruntime", "onnxruntime.txt", "onnxruntime.py"),
    Runtime(
        "onnxruntime-openvino",
        "onnxruntime-openvino.txt",
        "onnxruntime.py",
        {"PROVIDER": "OpenVINOExecutionProvider"},
    ),
    Runtime("onnxruntime-web", "onnxruntime-web.json", "onnxruntime-web.mjs", programs=("node",)),
    Runtime(
        "webgpu",
        "onnxruntime-web.json",
        "webgpu.mjs",
        {"BUNDLE": "ort.webgpu.bundle.min.mjs"},
        ("node", "chromium"),
    ),
    Runtime(
        "webgpu-jsep",
        "onnxruntime-web.json",
        "webgpu.mjs",
        {"BUNDLE": "ort.all.bundle.min.mjs"},
        ("node", "chromium"),
    ),
    Runtime("openvino", "openvino.txt", "openvino.py"),
    Runtime("opencv", "opencv.txt", "opencv.py", {"ENGINE": "ENGINE_NEW"}),
    Runtime("opencv-classic", "opencv.txt", "opencv.py", {"ENGINE": "ENGINE_CLASSIC"}),
    Runtime("ncnn", "ncnn.txt", "ncnn.py"),
    Runtime("mnn", "mnn.txt", "mnn.py"),
    Runtime("tvm", "tvm.txt", "tvm.py"),
    Runtime("tinygrad", "tinygrad.txt", "tinygrad.py", {"DEV": "CPU"}, ("clang",)),
    Runtime("iree", "iree.txt", "iree.py"),
    Runtime("tflite", "tflite.txt", "tflite.py"),
    Runtime("onnx2torch", "onnx2torch.txt", "onnx2torch.py"),
    Runtime("jaxonnxruntime", "jaxonnxruntime.txt", "jaxonnxruntime.py"),
    Runtime("onnx2keras", "onnx2keras.txt", "onnx2keras.py"),
)
RUNTIMES = {runtime.name: runtime for runtime in _ALL}
"""The newest release of each."""


def _older() -> Iterator[Runtime]:
    """One for each file in requirements/releases: TARGET-RELEASE."""
    for file in sorted((HERE / "requirements" / "releases").iterdir()):
        name, _, release = file.name.removesuffix(file.suffix).rpartition("-")
        newest = RUNTIMES[name]
        older = replace(newest, name=f"{name}@{release}", requirements=f"releases/{file.name}")
        if file.suffix == ".txt" and newest.worker.endswith(".mjs"):
            older = replace(older, worker=f"{name}.py", variables={}, programs=())
        yield older


RELEASES = {runtime.name: runtime for runtime in _older()}
"""Older releases, as `--target` names them."""
