"""The deployment runtimes that the tests can run a model in, each in an environment of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from onnxpad.runtimes.running.headers import Header, headers_of

HERE = Path(__file__).resolve().parent


class Runtime(NamedTuple):
    """A runtime under the name of its rewriting target, older ones with their release.

    `requirements` is a file in requirements/: .txt for pip, .json for npm.
    """

    name: str
    requirements: str

    @property
    def requirements_file(self) -> Path:
        return HERE / "requirements" / self.requirements

    @property
    def is_javascript(self) -> bool:
        return self.requirements.endswith(".json")

    @property
    def header(self) -> Header | None:
        """The adapter that starts it; None for a tool that runs no models."""
        known = headers_of(self.name.partition("@")[0])
        return next((one for one in known if one.is_javascript == self.is_javascript), None)


_FILES = {
    "webgpu": "onnxruntime-web.json",
    "webgpu-jsep": "onnxruntime-web.json",
    "onnxruntime-web": "onnxruntime-web.json",
    "opencv-classic": "opencv.txt",
}
_NAMES = (
    *("onnxruntime", "onnxruntime-openvino", "onnxruntime-web", "webgpu", "webgpu-jsep"),
    *("openvino", "opencv", "opencv-classic", "ncnn", "mnn", "tvm", "tinygrad", "iree", "tflite"),
    *("onnx2torch", "jaxonnxruntime", "onnx2keras", "tract", "esp-ppq"),
)
RUNTIMES = {name: Runtime(name, _FILES.get(name, f"{name}.txt")) for name in _NAMES}
"""The newest release of each."""


def _older() -> Iterator[Runtime]:
    """One for each file in requirements/releases: TARGET-RELEASE."""
    for file in sorted((HERE / "requirements" / "releases").iterdir()):
        name, _, release = file.name.removesuffix(file.suffix).rpartition("-")
        yield Runtime(f"{name}@{release}", f"releases/{file.name}")


RELEASES = {runtime.name: runtime for runtime in _older()}
"""Older releases, as `--target` names them."""
