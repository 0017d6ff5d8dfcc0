"""A small town with a leak, and a crew that answers by itself: something to look at first."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

import numpy as np

from netbo.errors import BaseError
from netbo.geometry import MetricGraph, Point, Points
from netbo.page.live import LiveStudy
from netbo.studies import Study

ROWS, COLUMNS, BLOCK, SHIFT = 6, 8, 120.0, 26.0  # streets, metres between them, and how crooked they are
MISSING = 0.14  # share of the blocks without a street
ALONG = ("Canal", "Mill", "Church", "Station", "Bridge", "Orchard")
ACROSS = ("Weaver", "Baker", "School", "Market", "Hill", "Willow", "Harbour", "Park")
LOUD, QUIET, REACH, NOISE = 62.0, 34.0, 160.0, 1.5  # dB at the leak and far off, metres of a fall to 1/e, dB
NAME, CREW, SEED, MOST = "demo", "robin", 0, 40


def town(seed: int = SEED) -> MetricGraph:
    """Crooked streets with names, in metres; all of it connected."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(COLUMNS), np.arange(ROWS)), axis=-1).reshape(-1, 2) * BLOCK
    places = grid + rng.uniform(-SHIFT, SHIFT, grid.shape)
    number = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    streets = [(f"{ALONG[r]} Street", pair) for r in range(ROWS) for pair in pairwise(number[r].tolist())]
    lanes = [(f"{ACROSS[c]} Lane", pair) for c in range(COLUMNS) for pair in pairwise(number[:, c].tolist())]
    blocks = streets + lanes
    kept = [blocks[k] for k in np.flatnonzero(rng.random(len(blocks)) >= MISSING).tolist()]
    tails, heads = np.array([pair for _, pair in kept]).T
    lengths = np.linalg.norm(places[tails] - places[heads], axis=1)
    whole = MetricGraph(
        tails, heads, lengths, positions=places, unit="m",
        edge_attributes={"name": [name for name, _ in kept]},
        edge_ids=[f"{name.split()[0]} {k}" for k, (name, _) in enumerate(kept)],
        vertex_ids=[f"H{k:02d}" for k in range(len(places))],
    )  # fmt: skip
    return whole.subgraph(int(np.argmax(np.bincount(whole.components))))


def loudness(graph: MetricGraph, seed: int = SEED) -> tuple[Point, Callable[[Point], float]]:
    """Where the leak is, and the level in dB that is heard at a point: it falls along the pipes."""
    rng = np.random.default_rng(seed + 1)
    edge = int(rng.choice(graph.n_edges, p=graph.lengths / graph.total_length))
    leak = Points(np.array([edge]), np.array([rng.uniform(0.0, graph.lengths[edge])]), graph=graph)

    def heard(point: Point) -> float:
        away = float(graph.distance(leak, Points.at(point, graph=graph))[0, 0])
        return round(
            QUIET + (LOUD - QUIET) * float(np.exp(-away / REACH)) + NOISE * float(rng.standard_normal()), 1
        )

    return leak[0], heard


def demo_study(folder: Path) -> Study:
    """The study of the demonstration, in a journal of the folder."""
    return Study.create(
        town(), name=NAME, storage=folder / f"{NAME}.journal", noise=NOISE**2, seed=SEED,
        title="Demo: a leak in a small town", value_unit="dB",
    )  # fmt: skip


class DemoCrew:
    """A crew that asks, drives and tells, until it has told enough or the server ends."""

    def __init__(self, live: LiveStudy, *, pace: float = 4.0) -> None:
        self.live, self.pace, self.ends = live, pace, Event()
        self.heard = loudness(live.study.graph)[1]
        self.thread = Thread(target=self._run, name="demo", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while not self.ends.wait(self.pace) and self.live.study.n_handed_out < MOST:
            try:
                held, _ = self.live.hand_out(CREW, 1).result()
                if self.ends.wait(self.pace) or not held:
                    return
                point = self.live.study.records[held[0]].point
                assert point is not None
                self.live.study.tell(held[0], self.heard(point), by=CREW)
            except (BaseError, RuntimeError):  # somebody gave its place away, or the server ends
                continue

    def close(self) -> None:
        """Send the crew home."""
        self.ends.set()
