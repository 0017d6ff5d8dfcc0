"""NetworkX graphs in general: what its readers have in common."""
