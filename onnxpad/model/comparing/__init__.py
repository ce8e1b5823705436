"""Models as validation and diagnosis see them.

`networks` has a model as values: what goes in, what comes out, nodes, constants. `changes` says
which nodes two models do not share, `pieces` makes models of parts of one, or with other padding,
`perturbed` one that adds random rounding.
"""
