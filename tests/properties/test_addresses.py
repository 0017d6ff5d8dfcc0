"""Whatever is done to a set of lines, places are told in the user's words, and lead to the same spot."""

from dataclasses import replace

import geopandas
import numpy as np
import pandas as pd
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import netbo
from netbo.adapters import Links, Network, Treatment, assemble
from netbo.adapters.export import points_frame, write_map, write_observations
from netbo.errors import BaseError
from netbo.geometry import uniform_points
from netbo.optimize import RandomDesign, run
from support.strategies import seeds

SHORTER = 0.7  # lengths that count, over those drawn
SNAP, SHORT = 0.02, 0.06
EXACT = 1e-9  # of places on lines a few units long
MOVED = 1.0  # snapping and merging vertices move corners, and with them what lies between, by less than this


@st.composite
def line_sets(draw):
    """Up to six lines of up to four corners on a grid of halves: they cross, touch, overlap and repeat."""
    corner = st.tuples(st.integers(0, 6), st.integers(0, 6))
    line = st.lists(corner, min_size=2, max_size=4, unique=True)
    lines = draw(st.lists(line, min_size=1, max_size=6))
    return [np.array(corners) / 2.0 for corners in lines]


@st.composite
def treated_networks(draw):
    """A network of random lines under random treatments, its lines, and how far things may have moved."""
    lines = draw(line_sets())
    lengths = [SHORTER * shapely.LineString(line).length for line in lines]
    kind = st.sampled_from([*[Treatment.KEEP] * 4, Treatment.CONTRACT, Treatment.CUT, Treatment.DROP])
    treatments = [Treatment.KEEP, *(draw(kind) for _ in lines[1:])]
    links = Links(
        source="lines", ids=[f"e{k}" for k in range(len(lines))], curves=lines, lengths=np.array(lengths),
        treatments=treatments,
    )  # fmt: skip
    options = {"node": draw(st.booleans()), "snap": draw(st.sampled_from([0.0, SNAP]))}
    try:
        network = assemble(links, merge_duplicates=draw(st.booleans()), **options)
    except BaseError:  # lines that are no network, or a single one that goes there and back
        assume(False)
    moves = options["snap"] > 0
    shrunk = sum(
        length / SHORTER
        for length, each in zip(lengths, treatments, strict=True)
        if each is Treatment.CONTRACT
    )
    graph = network.graph
    for change in draw(
        st.lists(st.sampled_from(["split", "merge", "contract", "cut", "component"]), max_size=3)
    ):
        graph, has_moved = changed(graph, change, draw(seeds()))
        moves |= has_moved
    tolerance = shrunk + (MOVED if moves else EXACT)
    return Network(graph, network.report), dict(zip(links.ids, lines, strict=True)), tolerance


def changed(graph, change, seed):
    """A graph after one more change, and whether that moved something."""
    rng = np.random.default_rng(seed)
    if change == "split":
        return graph.split(uniform_points(graph, 2, rng)), False
    if change == "merge":
        return graph.merge(), False
    if change == "component":
        return graph.subgraph(int(rng.integers(graph.n_components))), False
    try:
        if change == "contract":
            return netbo.merge_vertices(graph, SHORT), True
        vertex = int(np.argmax(graph.degrees))
        edge = int(np.flatnonzero((graph.tails == vertex) | (graph.heads == vertex))[0])
        return graph.cut(graph.vertex_ids[vertex], [graph.edge_ids[edge]]), False
    except BaseError:  # nothing to part, or nothing would be left
        return graph, False


def spot(lines, edge, distance):
    """Where an address leads on the lines as they were given: by shapely, which knows no graph."""
    line = shapely.LineString(lines[edge])
    assert -1e-12 <= distance <= SHORTER * line.length * (1 + 1e-12)
    return np.array(line.interpolate(distance / (SHORTER * line.length), normalized=True).coords[0])


@settings(deadline=None, max_examples=80, derandomize=True)
@given(treated_networks(), seeds())
def test_every_address_exists_in_the_input_and_leads_to_the_same_spot(treated, seed):
    """For what an objective sees, what the history and a CSV say, and on the way in."""
    network, lines, tolerance = treated
    optimizer = netbo.Optimizer(
        replace(network, report=replace(network.report, warnings=())), design=RandomDesign(5), seed=7,
        max_cell=1.0, noise=0.0,
    )  # fmt: skip
    seen = []

    def objective(point):
        assert np.abs(spot(lines, point.edge_id, point.distance) - point.xy).max() <= tolerance
        seen.append((point.edge_id, point.distance, point.xy))
        return point.distance

    result = run(objective, optimizer, budget=5, catch=())
    table = result.history

    assert list(zip(table["edge"], table["distance"], strict=True)) == [each[:2] for each in seen]
    again = network.points([each[0] for each in seen], [each[1] for each in seen])
    assert np.abs(network.graph.embed(again) - [each[2] for each in seen]).max() <= EXACT
    x = uniform_points(network.graph, 20, np.random.default_rng(seed))
    ids, distance, _ = network.graph.address(x)
    found = np.array([spot(lines, *each) for each in zip(ids, distance.tolist(), strict=True)])
    assert np.abs(found - network.graph.embed(x)).max() <= tolerance
    assert np.abs(network.graph.embed(network.points(ids, distance)) - network.graph.embed(x)).max() <= EXACT


@settings(deadline=None, max_examples=12, derandomize=True)
@given(treated_networks(), seeds())
def test_files_lead_to_the_same_spot(tmp_path_factory, treated, seed):
    """Rows of a CSV, points and lines of a GeoPackage."""
    network, lines, tolerance = treated
    folder = tmp_path_factory.mktemp("files")
    x = uniform_points(network.graph, 6, np.random.default_rng(seed))
    write_observations(folder / "o.csv", network, x, np.arange(6.0))
    layers = {"observations": points_frame(network, x)}
    write_map(folder / "m.gpkg", network, {"z": lambda points: points.z}, layers=layers, max_piece=0.4)
    rows = pd.read_csv(folder / "o.csv")
    points = geopandas.read_file(folder / "m.gpkg", layer="observations")
    field = geopandas.read_file(folder / "m.gpkg", layer="field")

    told = [*zip(rows["edge"], rows["distance"], rows[["x", "y"]].to_numpy(), strict=True)]
    told += zip(points["edge_id"], points["distance"], points.get_coordinates().to_numpy(), strict=True)
    for end, measure in ((0, "from_measure"), (-1, "to_measure")):
        corners = [np.array(line.coords[end]) for line in field.geometry]
        told += zip(field["edge_id"], field[measure], corners, strict=True)
    assert max(np.abs(spot(lines, edge, along) - xy).max() for edge, along, xy in told) <= tolerance
