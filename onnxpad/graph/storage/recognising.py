"""Telling an ONNX file from other files by its first bytes and its top-level protobuf fields."""

from dataclasses import dataclass

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MODEL_FIELDS = {
    1: _VARINT,  # ir_version
    2: _BYTES,  # producer_name
    3: _BYTES,  # producer_version
    4: _BYTES,  # domain
    5: _VARINT,  # model_version
    6: _BYTES,  # doc_string
    7: _BYTES,  # graph
    8: _BYTES,  # opset_import
    14: _BYTES,  # metadata_props
    20: _BYTES,  # training_info
    25: _BYTES,  # functions
    26: _BYTES,  # configuration
}
_REQUIRED = {1: "ir_version", 7: "graph", 8: "opset_import"}
_FETCH_AGAIN = "export, download or copy it again"
_SIGNATURES: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"version https://git-lfs", "a Git LFS pointer, not the file itself", "run git lfs pull"),
    (0, b"PK\x03\x04", "a zip archive", "unpack it, or export the PyTorch or Keras model to ONNX"),
    (0, b"\x1f\x8b", "gzip data", "run gunzip on it first"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", "export the Keras model to ONNX"),
    (4, b"TFL3", "a TensorFlow Lite model", "convert it with tf2onnx"),
    (4, b"ORTM", "an onnxruntime ORT-format model", "use the .onnx file it was made from"),
    (8, b'{"', "a safetensors file", "export the model that uses these weights to ONNX"),
    (0, b"\x80\x02", "a Python pickle", "export the PyTorch model to ONNX"),
    (0, b"\x80\x04", "a Python pickle", "export the PyTorch model to ONNX"),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image", "name the .onnx file"),
    (0, b"\xff\xd8\xff", "a JPEG image", "name the .onnx file"),
)


@dataclass(frozen=True)
class Layout:
    """The top-level fields of a protobuf message that could be a ModelProto.

    `missing_bytes` is how far the last field reaches past the end of the data (0 when whole).
    """

    fields: frozenset[int]
    missing_bytes: int


def why_not_a_model(data: bytes) -> str | None:
    """What is wrong with `data` as an ONNX file and what to try, or None if it looks like one.

    Looks at the first bytes and the top-level fields only, whatever the size of the model
    (onnx.proto: ModelProto; ir_version, graph and opset_import are required).
    """
    if not data:
        return f"the file is empty (0 bytes); {_FETCH_AGAIN}"
    layout = _layout(data)
    absent = (
        []
        if layout is None
        else [label for number, label in _REQUIRED.items() if number not in layout.fields]
    )
    if layout and not layout.missing_bytes and not absent:
        return None
    foreign = _foreign(data)
    if foreign:
        return f"not an ONNX model but {foreign[0]}; {foreign[1]}"
    if layout is None:
        return f"not an ONNX model: no ModelProto starts like this; {_FETCH_AGAIN}"
    if layout.missing_bytes:
        return (
            f"cut short: it has {len(data)} bytes and at least {layout.missing_bytes} more "
            f"belong to it; {_FETCH_AGAIN}"
        )
    return (
        f"not a whole ONNX model: it has no {', no '.join(absent)}; it is another protobuf "
        f"message (a saved tensor?) or was cut short: name the .onnx file, or {_FETCH_AGAIN}"
    )


def _layout(data: bytes) -> Layout | None:
    """The top-level fields, or None where a field cannot be one of a ModelProto."""
    fields: set[int] = set()
    position, size = 0, len(data)
    while position < size:
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if number == 0 or _MODEL_FIELDS.get(number, wire_type) != wire_type:
            return None
        if wire_type == _VARINT:
            _, position = _varint(data, position)
        elif wire_type == _BYTES:
            length, position = _varint(data, position)
            position += length
        elif wire_type in (_FIXED32, _FIXED64):
            position += 4 if wire_type == _FIXED32 else 8
        else:
            return None
        fields.add(number)
    return Layout(frozenset(fields), position - size)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """The value and the position behind it, which is past the end where the data stops early."""
    value = shift = 0
    while position < len(data) and shift < 70:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    return 0, position + (shift < 70)


def _foreign(data: bytes) -> tuple[str, str] | None:
    """What the data is instead of a model and what to try, where that can be told."""
    for offset, magic, found, attempt in _SIGNATURES:
        if data.startswith(magic, offset):
            return found, attempt
    start = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] in (b"{", b"["):
        return "JSON text", "onnx.load(..., format='json') and onnx.save convert ONNX JSON"
    if start[:1] == b"<":
        return "a web page or XML", "the download may have failed: fetch the .onnx file itself"
    if start.startswith((b"ir_version", b"graph {")):
        return "protobuf text", "onnx.load(..., format='textproto') and onnx.save convert it"
    if not any(byte < 9 or 13 < byte < 32 for byte in start):
        return "text", "name the .onnx file"
    return None
