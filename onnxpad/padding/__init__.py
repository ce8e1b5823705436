"""The vocabulary of padding: operators, forms, chains, what stands around them."""
