"""OpenCV's dnn module; $ENGINE says which of its two engines, of which it had one before 5.0."""

import os
from functools import lru_cache
from typing import Any

import cv2
import numpy as np

Array = np.ndarray[Any, Any]


@lru_cache(maxsize=1)
def _network(model: str) -> Any:
    has_engines = hasattr(cv2.dnn, "ENGINE_NEW")
    engine = {"engine": getattr(cv2.dnn, os.environ["ENGINE"])} if has_engines else {}
    return cv2.dnn.readNetFromONNX(model, **engine)


def run(model: str, inputs: dict[str, Array], outputs: dict[str, int]) -> dict[str, Array]:
    network = _network(model)
    for name, array in inputs.items():
        network.setInput(array, name)
    return dict(zip(outputs, network.forward(list(outputs)), strict=True))
