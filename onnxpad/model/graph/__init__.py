"""A model as scopes of nodes, with what is known of each tensor: its type and its value."""
