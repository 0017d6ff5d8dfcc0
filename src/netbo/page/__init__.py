"""The page of a study: a live map for crews and managers, and the same in one file."""
