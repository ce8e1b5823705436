"""From a ModelProto to chains: scopes, types, padded nodes."""
