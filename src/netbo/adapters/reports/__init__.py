"""What is looked for in a network, and how it is said."""
