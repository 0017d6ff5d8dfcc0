"""What a run found, shown: the result, its figures, one HTML page, layers for a map."""
