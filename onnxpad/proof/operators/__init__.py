"""The rules of operators: one function each, on whole arrays of any domain."""
