"""How soon is the page seen and recoloured, how fast does it move, and does it answer while it computes?

First paint, update and frame time (as a ratio to an empty map) for a thousand to a hundred thousand edges in
one Chromium; the state endpoint while a model is computed beside. The colours of the large networks are made
up: what is measured is the page.
"""

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import shutil
import tempfile
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from playwright.sync_api import Page, sync_playwright

from netbo.geometry import MetricGraph
from netbo.page.lines import PageLines
from netbo.page.live import LiveStudy
from netbo.page.roles import Doors, Holder
from netbo.page.server import PageServer, make_app
from netbo.page.snapshot import VIEWS, Snapshot
from netbo.studies import Study
from record import write

SIZES = {"1e3": 23, "1e4": 71, "1e5": 224}  # vertices along a side of a grid, which has 2 n (n - 1) edges
SIDE, JITTER, FRAMES, UPDATES = 100.0, 25.0, 12, 3
VALUES, REQUESTS = 60, 400
DOORS = Doors(b"a key for one benchmark")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
RENDERER = """() => { const gl = document.createElement('canvas').getContext('webgl2');
  const known = gl.getExtension('WEBGL_debug_renderer_info');
  return known ? gl.getParameter(known.UNMASKED_RENDERER_WEBGL) : 'unknown'; }"""
# A frame is drawn when its pixels can be read.
DRAWN = """const DRAWN = async (map) => { map.triggerRepaint();
  await new Promise((done) => map.once('render', done));
  const gl = map.painter.context.gl;
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); };"""
PAINTED = """async () => { DRAWN; const { chart } = window.netbo; await chart.ready;
  if (!chart.map.loaded()) await new Promise((done) => chart.map.once('idle', done));
  await DRAWN(chart.map); return performance.now(); }"""
UPDATED = """async () => { DRAWN; const begun = performance.now(), { chart } = window.netbo;
  await window.netbo.refresh(); await DRAWN(chart.map); return performance.now() - begun; }"""
FRAME = """async ([frames, hidden]) => { DRAWN;
  const { map } = window.netbo.chart, times = [], zoom = map.getZoom();
  for (const id of ['field', 'names', 'marks', 'way', 'way-edge', 'parts', 'parts-edge'])
    map.setLayoutProperty(id, 'visibility', hidden ? 'none' : 'visible');
  await new Promise((done) => { map.once('idle', done); map.triggerRepaint(); });
  for (let k = 0; k < frames; k++) { const begun = performance.now();
    map.jumpTo({ zoom: zoom + 0.02 * (k % 2 + 1) });
    await DRAWN(map);
    times.push(performance.now() - begun); }
  return times.sort((a, b) => a - b)[frames >> 1]; }"""


PAINTED, UPDATED, FRAME = (script.replace("DRAWN;", DRAWN) for script in (PAINTED, UPDATED, FRAME))


def town(n: int, seed: int) -> MetricGraph:
    """A jittered grid of n times n crossings, in metres."""
    rng = np.random.default_rng(seed)
    places = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2) * SIDE
    places = places + rng.uniform(-JITTER, JITTER, places.shape)
    number = np.arange(n * n).reshape(n, n)
    tails = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    heads = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    lengths = np.linalg.norm(places[tails] - places[heads], axis=1)
    return MetricGraph(tails, heads, lengths, positions=places, unit="m")


def made_up(lines: PageLines, shift: float) -> Snapshot:
    """Smooth colours on every piece."""
    middles = lines.corners.mean(axis=1) - lines.centre
    wave = np.sin(400_000 * middles[:, 0] + shift) * np.cos(300_000 * middles[:, 1])
    legend = {"low": -1.0, "high": 1.0, "unit": None, "power": 1.0, "reason": None}
    answers: dict[str, Any] = {"sure": "", "doubt": None, "facts": [], "warnings": [], "recommend": None}
    fields, legends = dict.fromkeys(VIEWS, wave), dict.fromkeys(VIEWS, legend)
    return Snapshot(f"made up {shift}", 5, time.time(), 0.0, fields, legends, answers)


def seen(page: Page, name: str, n: int, folder: Path) -> dict[str, Any]:
    """Times of the page for one size."""
    study = Study.create(town(n, 0), name=name, storage=folder / f"{name}.journal", noise=1.0, max_cell=SIDE)
    live = LiveStudy(study)
    live.computing, live.snapshot = True, made_up(live.lines, 0.0)  # nothing is computed beside
    with PageServer(make_app(live, DOORS)) as server:
        page.goto("about:blank")
        page.goto(f"{server.url}/#{DOORS.token(Holder('manager', 'benchmark'))}")
        page.wait_for_selector("body.ready", timeout=300_000)
        first = page.evaluate(PAINTED)
        updates = []
        for k in range(UPDATES):
            live.snapshot = replace(made_up(live.lines, k + 1.0))
            updates.append(page.evaluate(UPDATED))
        whole, empty = page.evaluate(FRAME, [FRAMES, False]), page.evaluate(FRAME, [FRAMES, True])
    return {
        "edges": study.graph.n_edges, "pieces": len(live.lines.segments.edge),
        "first_paint_seconds": first / 1000, "update_seconds": float(np.median(updates)) / 1000,
        "frame_seconds": whole / 1000, "empty_frame_seconds": empty / 1000, "frame_ratio": whole / empty,
    }  # fmt: skip


def answering(folder: Path, requests: int) -> dict[str, Any]:
    """Latency of the state while models are computed, and while nothing is."""
    graph, rng = town(23, 1), np.random.default_rng(1)
    study = Study.create(graph, name="busy", storage=folder / "busy.journal", noise=1.0)
    for k in range(VALUES):
        edge = int(rng.integers(graph.n_edges))
        study.add_observation(
            (graph.edge_ids[edge], float(graph.lengths[edge]) / 2), float(rng.normal()), key=str(k)
        )
    live = LiveStudy(study)
    times: dict[bool, list[float]] = {True: [], False: []}
    with PageServer(make_app(live, DOORS)) as server:
        token = DOORS.token(Holder("manager", "benchmark"))
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=60) as client:
            while min(map(len, times.values())) < requests:
                if len(times[True]) < requests and not live.computing and len(times[False]) >= requests:
                    study.add_observation((graph.edge_ids[0], 1.0), float(rng.normal()))
                was, begun = live.computing, time.perf_counter()
                client.get("/state").raise_for_status()
                taken = time.perf_counter() - begun
                if was == live.computing:
                    times[was].append(taken)
                time.sleep(0.005)
    return {
        "edges": graph.n_edges, "values": VALUES, "requests": requests,
        "model_seconds": None if live.snapshot is None else live.snapshot.took,
        "state_ms_95_percent_while_computing": 1000 * float(np.quantile(times[True], 0.95)),
        "state_ms_95_percent_at_rest": 1000 * float(np.quantile(times[False], 0.95)),
        "state_ms_median_while_computing": 1000 * float(np.median(times[True])),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="fewer for a quick look"
    )
    parser.add_argument("--requests", type=int, default=REQUESTS)
    arguments = parser.parse_args()
    chromium = os.environ.get("NETBO_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        raise SystemExit("a browser is needed, got none; apt-get install -y chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(300_000)
        renderer = page.evaluate(RENDERER)
        pages = {}
        for size in arguments.sizes:
            pages[size] = seen(page, f"town{size}", SIZES[size], folder)
            print(size, pages[size])
        result = {
            "browser": browser.version, "renderer": renderer, "cpu_count": os.cpu_count(),
            "load_average": os.getloadavg(), "fastapi": version("fastapi"), "uvicorn": version("uvicorn"),
            "pages": pages, "answering": answering(folder, arguments.requests),
        }  # fmt: skip
        browser.close()
    print(result["answering"])
    write(arguments.out, str(__doc__).partition("\n")[0], result)


if __name__ == "__main__":
    main()
