"""Power networks: drawn, and faults put on lines."""
