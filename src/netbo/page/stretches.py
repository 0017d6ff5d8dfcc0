"""The search list as stretches to walk: those close together on a street are one, none is too short."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.optimize import SearchList
from netbo.optimize.maximizer import MaximizerDensity
from netbo.page.lines import PageLines
from netbo.studies.trial_store import as_json

SENSIBLE = 1 / 200  # of the network: shorter stretches are lengthened, and shorter gaps joined
MOST = 60  # stretches on a page


def walkable(listed: SearchList, density: MaximizerDensity, lines: PageLines) -> dict[str, Any]:
    """Stretches of a sensible length with the probability they hold, the most probable first, as JSON."""
    graph = density.graph
    table, least = graph.address_table, SENSIBLE * graph.total_length
    whole = dict(zip(table.ids, table.lengths.tolist(), strict=True))
    by_edge: dict[Hashable, list[tuple[float, float]]] = {}
    for each in listed.stretches:
        by_edge.setdefault(each.edge_id, []).append((each.start, each.end))
    merged = [(edge, *part) for edge, parts in by_edge.items() for part in _merged(parts, least, whole[edge])]
    ids, starts, ends = ([each[k] for each in merged] for k in range(3))
    number, edges, first, last = graph.intervals(ids, np.array(starts), np.array(ends))
    mass = np.bincount(number, density.mass(edges, first, last), minlength=len(merged))
    order = np.argsort(-mass, kind="stable")
    enough = int(np.searchsorted(np.cumsum(mass[order]), listed.probability * (1 - 1e-9))) + 1
    order = order[:enough]  # longer stretches hold more, so fewer are needed
    parts = [np.flatnonzero(number == k) for k in order[:MOST].tolist()]
    middles = graph.points(ids, (np.array(starts) + np.array(ends)) / 2)
    places = lines.described(list(middles))
    rows = [
        {
            "edge": as_json(ids[k]), "name": places[k]["name"], "from": starts[k], "to": ends[k],
            "words": f"{_words(lines, ids[k], starts[k])} to {_words(lines, ids[k], ends[k])}",
            "length": ends[k] - starts[k], "probability": float(mass[k]), "at": places[k]["at"],
            "parts": [[int(edges[i]), float(first[i]), float(last[i])] for i in part],
        }
        for k, part in zip(order[:MOST].tolist(), parts, strict=True)
    ]  # fmt: skip
    return {
        "rows": rows, "hidden": len(order) - len(rows), "probability": float(mass[order].sum()),
        "length": float((np.array(ends) - np.array(starts))[order].sum()),
        "held_out": listed.held_out,
    }  # fmt: skip


def spread(found: MaximizerDensity, lines: PageLines) -> FloatArray:
    """Probability per unit of length, over stretches that one can walk: single samples make no speckles."""
    graph, pieces = found.graph, lines.segments
    n_parts = np.maximum(np.rint(graph.lengths / (SENSIBLE * graph.total_length)), 1).astype(np.int64)
    first, edges = np.cumsum(n_parts) - n_parts, np.repeat(np.arange(graph.n_edges), n_parts)
    number, width = np.arange(len(edges)) - first[edges], graph.lengths[edges] / n_parts[edges]
    mass = found.mass(edges, number * width, np.minimum((number + 1) * width, graph.lengths[edges]))
    part = ((pieces.start + pieces.stop) / 2 * n_parts[pieces.edge]).astype(np.int64)
    return np.asarray((mass / width)[first[pieces.edge] + part])


def _words(lines: PageLines, edge: Any, distance: float) -> str:
    points: Points = lines.network.graph.points([edge], [distance])
    return str(lines.described(list(points))[0]["words"]).removeprefix("at ")


def _merged(parts: Iterable[tuple[float, float]], least: float, whole: float) -> list[tuple[float, float]]:
    """Parts of one edge, lengthened to the least length and joined where they are close."""
    needed, found = min(least, whole), list[tuple[float, float]]()
    for start, end in sorted(parts):
        low, high = start, end
        if end - start < needed:
            low = min(max((start + end - needed) / 2, 0.0), whole - needed)
            high = low + needed
        if found and low - found[-1][1] <= least:
            low, high = found[-1][0], max(high, found.pop()[1])
        found.append((low, high))
    return found
