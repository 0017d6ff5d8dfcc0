"""Other programs for optimization, with a network as one of their variables."""
