"""A framework's layer as data, and the one engine that works it out."""
