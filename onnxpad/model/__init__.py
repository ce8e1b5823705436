"""Models: the only imports of onnx and onnx_graphsurgeon."""

from __future__ import annotations
