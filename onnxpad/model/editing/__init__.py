"""Edit scripts: emitted from chains, applied to a ModelProto."""
