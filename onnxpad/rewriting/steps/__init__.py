"""What passes build with: steps of expansions, pads and sizes."""
