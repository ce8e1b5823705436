"""OpenCV's dnn module; $ENGINE says which of its two engines, of which it had one before 5.0."""

import os
from typing import Any

import cv2


def load(model: str, inputs: Any, outputs: Any) -> Any:
    has_engines = hasattr(cv2.dnn, "ENGINE_NEW")
    engine = {"engine": getattr(cv2.dnn, os.environ["ENGINE"])} if has_engines else {}
    network = cv2.dnn.readNetFromONNX(model, **engine)

    def run(inputs: Any) -> Any:
        for name, array in inputs.items():
            network.setInput(array, name)
        return list(network.forward(list(outputs)))

    return run
