"""How many cells an edge gets: from the largest cell allowed, or from a budget of nodes."""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.checks import require_positive
from netbo.errors import ParameterError

_ROUNDING = 1e-12  # an edge of exactly n cells, up to rounding, gets n and not n + 1


def cells_by_size(lengths: FloatArray, max_cell: float, min_cells: int) -> IntArray:
    """n_e = ceil(L_e / max_cell), at least min_cells (ssec: fem space on Gamma)."""
    require_positive("max_cell", max_cell, "a hundredth of the diameter is a start", kind="a positive length")
    cells = np.ceil(lengths / max_cell * (1 - _ROUNDING))
    if cells.sum() > 1e9:
        raise ParameterError(
            f"max_cell={max_cell} asks for {cells.sum():.3g} cells, at most 1e9 fit; raise max_cell"
        )
    return np.maximum(cells.astype(np.int64), min_cells)


def cells_by_budget(lengths: FloatArray, n_vertices: int, n_nodes: int, min_cells: int) -> IntArray:
    """The finest mesh of one cell size with at most n_nodes nodes, at least min_cells an edge."""
    fewest = n_vertices + len(lengths) * (min_cells - 1)
    if n_nodes < fewest:
        raise ParameterError(
            f"n_nodes must be at least {fewest} for {n_vertices} vertices and {len(lengths)} edges of "
            f"{min_cells} or more cells, got {n_nodes}; raise it"
        )
    low, high = lengths.sum() / (n_nodes + len(lengths)), float(lengths.max())
    for _ in range(60):  # bisection on a logarithmic scale; 60 halvings exhaust double precision
        middle = float(np.sqrt(low * high))
        cells = np.maximum(np.ceil(lengths / middle * (1 - _ROUNDING)), min_cells)
        if n_vertices + cells.sum() - len(lengths) <= n_nodes:
            high = middle
        else:
            low = middle
    return cells_by_size(lengths, high, min_cells)
