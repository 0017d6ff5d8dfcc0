"""Networks as other programs want them on a map."""
