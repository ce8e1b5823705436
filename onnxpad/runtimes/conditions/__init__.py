"""The words in which target files say what a runtime does with padding: rows and conditions."""
