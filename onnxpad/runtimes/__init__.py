"""Runtimes: what each takes, refuses or computes otherwise, and the traps that follow.

A target is one TOML of rules in `targets/`. `targets` finds it by name and release, `rule_files`
reads and checks it (a user's own file alike), each word of a rule is a Condition of
`conditions/words`, and `judge` asks the rows of a target about a chain. Tables that several targets
include are rules of `onnxruntime/tables.toml`. `running` asks the runtime itself.
"""

from __future__ import annotations
