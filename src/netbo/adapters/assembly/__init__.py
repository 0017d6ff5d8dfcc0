"""Links made a network, a step a file: measured, projected, joined, cut, built."""
