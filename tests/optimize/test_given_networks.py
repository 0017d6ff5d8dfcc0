"""Whatever a search is given as its network, it keeps: ids, names, coordinate system, warnings."""

import warnings

import geopandas
import networkx
import numpy as np
import optuna
import pandas as pd
import pytest
import shapely

import netbo
from netbo.adapters import Links, assemble
from netbo.errors import NetworkError, NetworkWarning, ParameterError, PointError, StudyError

SEARCH = {"budget": 8, "noise": 0.0, "seed": 1}


def streets(**options):
    """A street of 10 along x and one of 8 across it at x = 4, on a map in UTM zone 33."""
    curves = [np.array([[0.0, 0], [10, 0]]), np.array([[4.0, -3], [4, 5]])]
    links = Links(
        source="a test", ids=["along", "across"], tails=["west", "south"], heads=["east", "north"],
        curves=[curve + np.array([500_000, 5_500_000]) for curve in curves], crs="EPSG:32633",
    )  # fmt: skip
    return assemble(links, **options)


def measure(point):
    return point.distance if point.edge_id == "along" else 0.0


def lattice():
    graph = networkx.Graph()
    graph.add_edge("church", "mill", length=120.0)
    graph.add_edge("mill", "ford", length=80.0)
    return graph


def apart():
    graph = lattice()
    graph.add_edge("x", "y", length=5.0)
    return graph


def memory():
    return optuna.storages.InMemoryStorage()


def test_a_result_answers_in_the_ids_and_the_system_of_its_network(tmp_path):
    """Without passing the network again: the graph inside is cut, and drawn in another projection."""
    degrees = streets(node=True)
    result = netbo.maximize(measure, degrees, **SEARCH)
    result.export(tmp_path / "a.gpkg")
    result.export(tmp_path / "a.csv")
    found = geopandas.read_file(tmp_path / "a.gpkg", layer="observations")
    table = pd.read_csv(tmp_path / "a.csv")

    assert result.network is result.optimizer.network is degrees
    assert found.crs == "EPSG:32633"
    for frame, edge in ((found, "edge_id"), (table, "edge")):
        assert frame[edge].tolist() == result.history["edge"].tolist()
        assert frame["distance"].tolist() == pytest.approx(result.history["distance"].tolist(), rel=1e-12)
    assert np.abs(found.geometry.x - 500_005).max() < 6
    assert set(geopandas.read_file(tmp_path / "a.gpkg", layer="field")["edge_id"]) == {"along", "across"}
    page = result.write_page(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "along" in page
    assert '["along", 0]' not in page
    assert "a test" in page  # its report


def test_a_study_answers_in_the_ids_and_the_system_of_its_network(tmp_path):
    study = netbo.Study.create(streets(node=True), name="s", storage=tmp_path / "s.journal", noise=0.0)
    study.work(measure, budget=6)
    again = netbo.Study.load(tmp_path / "s.journal")
    again.export(tmp_path / "s.gpkg")
    found = geopandas.read_file(tmp_path / "s.gpkg", layer="observations")

    assert found.crs == "EPSG:32633"
    assert set(again.trials["edge"]) <= {"along", "across"}
    assert again.trials["value"].tolist() == [measure(record.point) for record in again.records]
    assert found["distance"].tolist() == again.trials["distance"].tolist()


def test_what_read_takes_can_be_searched(tmp_path):
    """A NetworkX graph, a GeoDataFrame, a path."""
    lines = [shapely.LineString([(0, 0), (900, 0)]), shapely.LineString([(900, 0), (900, 500)])]
    lines = [shapely.affinity.translate(line, 500_000, 5_500_000) for line in lines]
    frame = geopandas.GeoDataFrame({"name": ["a", "b"]}, geometry=lines, crs="EPSG:32633")
    frame.to_file(tmp_path / "lines.gpkg")

    assert netbo.maximize(lambda x: x.distance, lattice(), **SEARCH | {"budget": 20}).best().value > 100
    assert netbo.minimize(lambda x: x.distance, frame, **SEARCH | {"budget": 20}).best().value < 1
    assert netbo.Optimizer(str(tmp_path / "lines.gpkg")).graph.n_edges == 2
    assert netbo.Optimizer(tmp_path / "lines.gpkg").network.report.crs == "EPSG:32633"
    assert netbo.Study.create(lattice(), name="s", storage=memory()).graph.total_length == 200


def test_what_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(NetworkError, match="no file is called"):
        netbo.Optimizer(tmp_path / "none.gpkg")
    with pytest.raises(ParameterError, match="an optimizer needs a network, a mesh or a prior, got float"):
        netbo.Optimizer(7.0)
    with pytest.raises(StudyError, match="a study needs a network, got float"):
        netbo.Study.create(7.0, name="s", storage=memory())


@pytest.mark.parametrize(
    "search",
    [
        netbo.Optimizer,
        lambda network: netbo.maximize(measure, network, **SEARCH),
        lambda network: netbo.Study.create(network, name="s", storage=memory()),
    ],
)
def test_the_warnings_of_a_report_are_shown_once(search):
    """At the line that passes the network; not again for the same one, which was then seen."""
    network = netbo.read(apart())

    with pytest.warns(NetworkWarning, match="2 components: nothing passes between them") as caught:
        search(network)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        netbo.Optimizer(network)
        netbo.maximize(measure, network, **SEARCH)
    with pytest.warns(NetworkWarning):
        search(apart())


def test_a_report_that_was_printed_is_not_shown_again():
    network = netbo.read(apart())
    print(network.report)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        netbo.Optimizer(network)


def test_a_study_that_is_opened_again_does_not_warn_again():
    storage = memory()
    with pytest.warns(NetworkWarning):
        netbo.Study.create(apart(), name="s", storage=storage)

    assert netbo.Study.load(storage).network.report.warnings


# Vertices by name, wherever a point is taken.


def test_places_are_told_by_the_names_of_vertices():
    optimizer = netbo.Optimizer(streets(node=True), noise=0.01)
    optimizer.tell("east", 3.0)
    optimizer.tell(["west", ("across", 2.5)], [1.0, 2.0])
    optimizer.tell(optimizer.ask(), 0.5, at="north")
    optimizer.tell(optimizer.ask(), 0.5, at=("along", 7.0))
    table = optimizer.history.table()

    assert table["edge"].tolist() == ["along", "along", "across", "across", "along"]
    assert table["distance"].tolist() == [10.0, 0.0, 2.5, 8.0, 7.0]


def test_candidates_are_given_by_the_names_of_vertices():
    network = streets(node=True)
    names = ["east", "north", ("along", 2.0), network.points("across", 1.0)]
    asked = [each.point for each in netbo.Optimizer(network, candidates=names).ask(4)]
    study = netbo.Study.create(network, name="s", storage=memory(), candidates=names)

    assert {(each.edge_id, each.distance) for each in asked} == {
        ("along", 10.0), ("across", 8.0), ("along", 2.0), ("across", 1.0),
    }  # fmt: skip
    assert study.optimizer.search.points == netbo.Optimizer(network, candidates=names).search.points
    with pytest.raises(ParameterError, match=r"candidates must be points.*'nowhere'"):
        netbo.Optimizer(network, candidates=["nowhere"])


def test_vertices_are_forbidden_by_name():
    network = streets(node=True)
    forbidden = netbo.Forbidden(vertices=["east", "north"], edges="across")
    x = network.points(["east", "west", "north", "south"])
    study = netbo.Study.create(network, name="s", storage=memory(), candidates=forbidden)

    assert forbidden.allows(x).tolist() == [False, True, False, False]
    stored = study.optimizer.search.forbidden
    everywhere = netbo.Optimizer(network, max_cell=0.25).search.points
    assert stored.allows(everywhere).tolist() == forbidden.allows(everywhere).tolist()


def test_studies_take_names_of_vertices_and_crews_start_there():
    network = streets(node=True)
    study = netbo.Study.create(network, name="s", storage=memory())
    study.enqueue("east")
    first = study.ask()
    study.tell(first, 1.0, at="west")
    study.add_observation("north", 2.0)
    near = netbo.studies.Crew("a", at="south", radius=1.0)
    (asked,) = study.ask(crews=[near])

    assert (first.point.edge_id, first.point.distance) == ("along", 10.0)
    assert study.trials["distance"].tolist()[:2] == [0.0, 8.0]
    assert asked.point.edge_id == "across"
    assert asked.point.distance <= 1.0
    with pytest.raises(PointError, match="a place must be a Point or Points, got 'nowhere'"):
        study.enqueue("nowhere")


def test_a_pair_that_is_also_a_vertex_is_refused_with_both_spellings():
    graph = netbo.MetricGraph([0], [1], [2.0], edge_ids=["e"], vertex_ids=[("e", 1), "f"])
    optimizer = netbo.Optimizer(graph)

    with pytest.raises(PointError, match=r"points\('e', 1\) for the edge, graph.points\(vertex=\('e', 1\)\)"):
        optimizer.tell(optimizer.ask(), 1.0, at=("e", 1))
