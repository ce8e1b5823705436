"""Runtimes: what each takes, refuses or computes otherwise, and the traps that follow."""

from __future__ import annotations
