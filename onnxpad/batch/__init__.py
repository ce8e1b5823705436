"""Many models at once, on any executor; nothing is loaded before it is used."""
