"""The vocabulary of padding: what one padded operator computes, as a value without a model.

A `chain.Chain` is an operator (a row of `operators`), its axes, `fills`, the Pad in front and what
stands around it. `model/reading` makes chains of nodes. A pass gives another chain, an
`expansion` (a small graph in place of the node), or a Skip. `model/editing` writes either one.
Questions about a chain: `effective_pads` gives its pads in cells, `forms` how they are written,
`possible_sizes` the chain at each possible size. `as_written` holds spellings for traps;
`plain_operators` names operators without padding. The room imports geometry and errors.
"""
