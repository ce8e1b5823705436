"""The rules of operators, a function each, over whole arrays of any domain."""
