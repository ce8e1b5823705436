"""Write the shapes that nodes have in the place of wrong ones that the file declares.

What: where the file declares another shape of what a padded operator writes than it has, the right
one is written, and so are those of everything behind it; a size that is not known is left open.
The nodes stay as they are.

Exact: always; no number changes, only what the file says of them. A declared result of the model
is its interface: what reads the file may have relied on the wrong shape.

Refuses: nothing.

Cost: none.

Example: Conv y of [1, 1, 4, 2], declared as [1, 1, 5, 5], is declared as [1, 1, 4, 2].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, Mark, Skip
from onnxpad.padding.forms import Form

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> Chain | Skip:
    """The chain with its own shape."""
    marks = chain.around.marks
    if Mark.DECLARED_OTHERWISE not in marks:
        return Skip("the file declares no other shape", moot=True)
    return replace(chain, around=replace(chain.around, marks=marks - {Mark.DECLARED_OTHERWISE}))
