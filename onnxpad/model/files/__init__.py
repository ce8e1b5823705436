"""Files: reading, writing, external data; all or nothing."""
