"""What a run found, shown: figures, one HTML page, layers for a map."""
