"""A model as scopes of nodes, with the type and value of each tensor as far as known.

`document.open_document` reads a ModelProto. `inlined` first writes local functions out if one
can pad. Then each graph, body and function is a `scopes.Scope` of `nodes.Node`s in graph order.
`model/reading` gives each scope a `context.Context`, and walks its nodes once: it sets `types`
and chains, and `Context.follow` computes small constants by `constant_folding`, whose cells may
be open sizes (`open_cells`). All later questions go to the Context.
`broken` finds models that no runtime can load. Nothing in this room changes a model.
"""
