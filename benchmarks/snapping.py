"""Which finds the nearest place on a network sooner, shapely's STRtree or our tree? 1e5 points, 1e4 edges.

Both are exact; the largest difference of their distances is recorded. CPU seconds, best of three, building
the tree included. Ours is `graph.nearest`; shapely's is STRtree.query_nearest over whole lines, and over
segments.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import record
import shapely

import netbo
from netbo.adapters import snap_measurements

SEED = 0
REPEATS = 3


def spent(action: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of the fastest of several calls, and what the last one returned."""
    times = []
    for _ in range(REPEATS):
        before = time.process_time()
        found = action()
        times.append(time.process_time() - before)
    return min(times), found


def by_lines(graph: netbo.MetricGraph, xy: Any) -> Any:
    """Distances and fractions by a tree over whole lines."""
    curves = graph.drawing
    rows = np.repeat(np.arange(graph.n_edges), np.diff(curves.starts))
    lines = shapely.linestrings(curves.coordinates, indices=rows)
    points = shapely.points(xy)
    (query, line), off = shapely.STRtree(lines).query_nearest(points, return_distance=True, all_matches=False)
    shapely.line_locate_point(lines[line], points[query], normalized=True)
    return off[np.argsort(query, kind="stable")]


def by_segments(graph: netbo.MetricGraph, xy: Any) -> Any:
    """Distances and fractions by a tree over straight segments."""
    curves = graph.drawing
    corners = curves.segments
    ends = curves.coordinates[corners], curves.coordinates[corners + 1]
    segments = shapely.linestrings(np.stack(ends, axis=1))
    points = shapely.points(xy)
    (query, line), off = shapely.STRtree(segments).query_nearest(
        points, return_distance=True, all_matches=False
    )
    shapely.line_locate_point(segments[line], points[query], normalized=True)
    return off[np.argsort(query, kind="stable")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--vertices", type=int, default=6_667)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rng = np.random.default_rng(SEED)
    made = netbo.road(options.vertices, seed=SEED)
    graph = netbo.MetricGraph(
        made.tails, made.heads, made.lengths, curves=made.curves, positions=made.positions
    )
    rows = []
    for name, offset in (("beside the network", 0.05), ("far from it", 2.0)):
        on = netbo.uniform_points(graph, options.points, rng)
        xy = graph.embed(on) + offset * rng.standard_normal((options.points, 2))
        table = pd.DataFrame({"x": xy[:, 0], "y": xy[:, 1], "value": rng.standard_normal(len(xy))})
        ours, found = spent(lambda: replace(graph).nearest(xy)[1])  # noqa: B023
        lines, by_line = spent(lambda: by_lines(graph, xy))  # noqa: B023
        segments, by_segment = spent(lambda: by_segments(graph, xy))  # noqa: B023
        whole, _ = spent(lambda: snap_measurements(replace(graph), table, limit=np.inf))  # noqa: B023
        apart = float(max(np.abs(found - by_line).max(), np.abs(found - by_segment).max()))
        rows.append(
            {
                "places": name, "points": options.points, "edges": graph.n_edges,
                "segments": len(graph.drawing.segments), "ours_s": ours, "strtree_lines_s": lines,
                "strtree_segments_s": segments, "largest_difference": apart, "snap_measurements_s": whole,
            }
        )  # fmt: skip
        print(
            f"{name:20} ours {ours:.2f} s, STRtree of lines {lines:.2f} s, of segments {segments:.2f} s, "
            f"apart {apart:.1e}, snap_measurements as a whole {whole:.2f} s"
        )
    versions = {"shapely": version("shapely"), "pandas": version("pandas")}
    result = {"seed": SEED, "more_versions": versions, "rows": rows}
    record.write(options.out, (__doc__ or "").splitlines()[0], result)


if __name__ == "__main__":
    main()
