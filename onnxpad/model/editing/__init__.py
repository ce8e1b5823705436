"""Editing: a change is a script of small edits, applied to a ModelProto or a graphsurgeon Graph.

A pass calls `session.EditSession.change` with a site and what it is to compute. `emit` turns that
into edits (`script`); `apply` carries them out on the document at once, and writes nodes into the
file at the end. `graphsurgeon` does the same to a Graph. `opsets` makes the script that moves a
model to another opset.
"""

from __future__ import annotations
