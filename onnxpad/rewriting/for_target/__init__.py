"""The cheapest sequence of passes after which a target takes a node, or why there is none."""
