"""What running a model takes at most: the largest sizes of its tensors, and the work on them."""
