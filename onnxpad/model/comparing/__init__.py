"""Models as validation and diagnosis see them.

`networks` has a model as values: what goes in, what comes out, nodes, constants. `changes` says
which nodes two models do not share, `pieces` makes models of parts of one, `perturbed` one that
adds random rounding. `channels`, `random_nodes` and `other_attributes` each answer one question.
"""
