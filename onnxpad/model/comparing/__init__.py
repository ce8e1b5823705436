"""Two models side by side: networks as values, changed regions, pieces of models."""
