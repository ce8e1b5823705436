"""Dimension names that are linear expressions, such as '32*h' or '2*h+1'."""

from __future__ import annotations

import ast
import re


def linear_terms(text: str) -> tuple[int, str, int] | None:
    """(factor, name, offset) of '32*h', 'h*32', '2*h+1'; None for anything else."""
    if not re.search(r"[*+-]", text):
        return None
    try:
        return _terms(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def _terms(node: ast.expr) -> tuple[int, str, int] | None:
    match node:
        case ast.Name(id=name):
            return 1, name, 0
        case ast.BinOp(ast.Constant(value=int(factor)), ast.Mult(), ast.Name(id=name)):
            return (factor, name, 0) if factor > 0 else None
        case ast.BinOp(ast.Name(id=name), ast.Mult(), ast.Constant(value=int(factor))):
            return (factor, name, 0) if factor > 0 else None
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, ast.Constant(value=int(offset))):
            inner = _terms(left)
            if inner is None:
                return None
            return inner[0], inner[1], inner[2] + (offset if isinstance(sign, ast.Add) else -offset)
        case _:
            return None
