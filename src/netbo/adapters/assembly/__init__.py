"""Assembly of a network from links: project, choose lengths, snap and node, build, report."""
