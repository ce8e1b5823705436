"""Files: a model is read without its large weights, and written around them, all or nothing.

Reading: `onnx_file` asks `contents` for bytes, or `splicing` for a large file that stays open with
the weights where they are; `external` looks for data files. Writing:
`delivery` lets `splicing` put edits between the bytes of the file, and brings the result and its
data files where they are wanted, with the temporary files of `atomic`. `arrays` reads .npy, .npz
and test data.
"""

from __future__ import annotations
