"""Pure arithmetic on one axis, true for every size that a model leaves open.

A size is an int or a `size.Symbol`; `size_fact` is what the user states of it. Arithmetic keeps
what a symbol leaves when it is divided, so that questions about open sizes can have one answer.
`windows.Axis` is a window over one axis. Its functions give the number of windows, SAME pads and
crops of transposed windows, or None if the answer depends on an open size.
`linear` follows numbers that a model computes from sizes, `cuts` the cells of a Slice or a
mirror. `budgets` limits all of it. The room imports only errors.
"""
