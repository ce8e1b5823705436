"""Types, sizes and values of tensors before a run."""
