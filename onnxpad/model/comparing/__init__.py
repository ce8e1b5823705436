"""Models as validation and diagnosis see them.

`networks` has a model as values: what goes in, what comes out, nodes, constants. `changes` says
which nodes two models do not share, `pieces` makes models of parts of one, `perturbed` one that
adds random rounding. `random_nodes` lists nodes that draw numbers; `other_attributes` and
`padded_outside` make models that diagnose tries.
"""
