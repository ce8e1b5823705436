"""Writes the same padding in another form: passes, their pipeline, the search for targets."""
