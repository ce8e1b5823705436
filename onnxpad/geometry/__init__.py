"""Pure arithmetic on one axis: sizes, windows, SAME, rounding, transposed windows."""
