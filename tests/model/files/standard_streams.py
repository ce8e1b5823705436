import io


class Standard(io.TextIOWrapper):
    """A standard stream over bytes in memory."""

    def __init__(self, data: bytes = b"") -> None:
        self.bytes = io.BytesIO(data)
        super().__init__(self.bytes)
