import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo.adapters.edge_list import read_edge_list
from netbo.errors import NetworkError
from netbo.testing import ReaderContract

PIPES = "id,from,to,length,material\nP1,well,mill,120.5,iron\nP2,mill,ford,80,lead\nP3,ford,well,60,iron\n"


def write(folder, text, name="pipes.csv"):
    path = folder / name
    path.write_text(text)
    return path


class TestContract(ReaderContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path):
        self.path = write(tmp_path, PIPES)

    def make_network(self):
        return netbo.read(self.path)


def test_a_file_is_read_by_its_suffix_with_names_lengths_and_attributes(tmp_path):
    network = netbo.read(str(write(tmp_path, PIPES)))
    graph = network.graph

    assert tuple(graph.edge_ids) == ("P1", "P2", "P3")
    assert set(graph.vertex_ids) == {"well", "mill", "ford"}
    assert_allclose(graph.lengths, [120.5, 80, 60])
    assert list(graph.edge_attributes["material"]) == ["iron", "lead", "iron"]
    assert "edge list pipes.csv" in str(network.report)
    assert "ends in 'from', 'to', lengths in 'length', edges named in 'id'" in str(network.report)


@pytest.mark.parametrize(
    "text",
    [
        PIPES.replace(",", "\t"),
        PIPES.replace(".5", ",5").replace("120,5", "120;5").replace(",", ";").replace("120;5", "120,5"),
        "\ufeff" + PIPES.replace("\n", "\r\n"),
        PIPES.replace(",", " , "),
        PIPES.replace("\nP2", "\n\nP2"),
    ],
    ids=["tabs", "semicolons and decimal commas", "spreadsheet", "blanks", "empty lines"],
)
def test_the_same_network_however_the_file_is_written(tmp_path, text):
    expected, found = netbo.read(write(tmp_path, PIPES)), netbo.read(write(tmp_path, text))

    assert tuple(found.graph.edge_ids) == tuple(expected.graph.edge_ids)
    assert_allclose(found.graph.lengths, expected.graph.lengths)
    assert list(found.graph.edge_attributes) == ["material"]


@pytest.mark.parametrize(
    "names",
    [
        ("from", "to", "length"), ("source", "target", "distance"), ("u", "v", "weight"),
        ("Start", "End", "LEN"), ("tail", "head", "dist"), ("From Node", "To Node", "Length"),
        ("node_1", "node_2", "length_m"),
    ],
)  # fmt: skip
def test_usual_names_of_columns_are_known(names):
    frame = pd.DataFrame([[1, 2, 3.0], [2, 3, 4.0]], columns=names)
    graph = netbo.read(frame).graph

    assert tuple(graph.edge_ids) == ((1, 2), (2, 3))
    assert_allclose(graph.lengths, [3, 4])


@pytest.mark.parametrize(
    ("name", "unit"), [("length", None), ("length_km", "km"), ("Length [m]", "m"), ("len (ft)", "ft")]
)
def test_a_unit_in_the_name_of_the_lengths_counts(name, unit):
    graph = netbo.read(pd.DataFrame({"from": [1], "to": [2], name: [3.0]})).graph

    assert graph.unit == unit
    assert_allclose(graph.lengths, [3.0])


def test_columns_can_be_named(tmp_path):
    path = write(tmp_path, "a;b;cost;name;length\n1;2;7,5;x;9\n")
    graph = read_edge_list(path, tail="a", head="b", length="cost", id="name", unit="km").graph

    assert tuple(graph.edge_ids) == ("x",)
    assert_allclose(graph.lengths, [7.5])
    assert list(graph.edge_attributes) == ["length"]
    assert graph.unit == "km"


def test_an_edge_named_by_its_ends_is_found_from_either_and_parallels_are_counted():
    frame = pd.DataFrame({"u": ["a", "a", "b"], "v": ["b", "b", "c"], "length": [3.0, 5.0, 4.0]})
    network = netbo.read(frame)
    there, back = network.points(("a", "b", 1), [1.0]), network.points(("b", "a", 1), [4.0])

    assert tuple(network.graph.edge_ids) == (("a", "b", 0), ("a", "b", 1), ("b", "c", 0))
    assert there == back


def test_both_directions_of_a_list_without_names_are_one_edge():
    """As NetworkX exports a directed graph; with names of their own they are two pipes side by side."""
    frame = pd.DataFrame({"from": [1, 2, 2], "to": [2, 1, 3], "length": [5.0, 5.0, 4.0]})
    merged, named = netbo.read(frame), netbo.read(frame.assign(id=["p", "q", "r"]))

    assert tuple(merged.graph.edge_ids) == ((1, 2), (2, 3))
    assert merged.points((2, 1), [1.0]) == merged.points((1, 2), [4.0])
    assert "1 pair of opposite edges" in str(merged.report)
    assert named.graph.n_edges == 3
    assert read_edge_list(frame, directions="keep").graph.n_edges == 3
    assert read_edge_list(frame.assign(id=["p", "q", "r"]), directions="merge").graph.n_edges == 2


def test_a_list_is_what_networkx_says_of_the_same_graph():
    graph = nx.gnm_random_graph(30, 60, seed=3)
    lengths = np.random.default_rng(0).uniform(1, 9, 60)
    nx.set_edge_attributes(graph, dict(zip(graph.edges, lengths, strict=True)), "length")
    frame = nx.to_pandas_edgelist(graph)
    ours, theirs = netbo.read(frame), netbo.read(graph)
    ids = theirs.graph.edge_ids
    apart = [each.graph.distance(*[each.points(ids, [0.5] * 60)] * 2) for each in (ours, theirs)]

    assert set(ours.graph.edge_ids) == set(ids)
    assert_allclose(*apart)


def test_coordinates_of_the_ends_draw_the_network_and_measure_what_has_no_length(tmp_path):
    path = write(tmp_path, "from,to,x1,y1,x2,y2,length\na,b,0,0,3,4,\nb,c,3,4,3,10,7\n")
    drawn = read_edge_list(path, coordinates_are_lengths=True, lengths="given")

    assert_allclose(drawn.graph.lengths, [5, 7])
    assert_allclose(drawn.coordinates(drawn.points(("b", "c"), [3.5])), [[3, 7]])


def test_degrees_are_known_by_their_names_and_vertices_by_their_places(tmp_path):
    path = write(tmp_path, "from_lon,from_lat,to_lon,to_lat\n14.40,50.0,14.41,50.0\n14.41,50.0,14.41,50.01\n")
    network = netbo.read(path)

    assert network.graph.n_vertices == 3
    assert network.graph.unit == "m"
    assert network.report.crs == "EPSG:4326"
    assert_allclose(network.graph.lengths, [716.9, 1112.3], rtol=1e-3)


def test_names_keep_their_zeros_and_one_column_of_text_makes_all_text(tmp_path):
    zeros = netbo.read(write(tmp_path, "from,to,length\n007,7,1\n7,008,2\n"))
    mixed = netbo.read(pd.DataFrame({"from": [1, 2], "to": ["2", "end"], "length": [1, 2]}))

    assert set(zeros.graph.vertex_ids) == {"007", "7", "008"}
    assert set(mixed.graph.vertex_ids) == {"1", "2", "end"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from,to,length\n1,2,3\n2,3,far\n", "must hold finite numbers, got 'far' in line 3 of pipes.csv; c"),
        ("from,to,length\n1,2,3\n2,3,\n", "column 'length' must hold finite numbers, got nothing in line 3"),
        ("from,to,length\n1,2,-3\n", "lengths must not be negative, got -3 in line 2"),
        ("from,to,length\n1,2,3\n\n,3,4\n", "needs both its ends, got nothing in column 'from' in line 4"),
        ("from,to,length\n1,2\n", "a row must have 3 cells, got 2 in line 2 of pipes.csv"),
        ("id,from,to,length\np,1,2,3\nq,2,3,4\np,3,4,5\n", "got 'p' again after line 2 in line 4.* id="),
        ("a,b,length\n1,2,3\n", "two columns for the ends of edges, got 'a', 'b', 'length' in pipes.csv; c"),
        ("from,to,colour\n1,2,red\n", "needs lengths or coordinates, got the columns .* with length="),
        ("u,v,x1,y1,x2,y2\n1,2,0,0,1,0\n2,3,5,0,6,0\n", r"at \(5, 0\) and at \(1, 0\) in line 2, again in"),
        ("from,to,length\n", "an edge list must have a row"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, message):
    with pytest.raises(NetworkError, match=message):
        netbo.read(write(tmp_path, text))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tail": "from"}, "the ends of edges are two columns, got one; name both"),
        ({"tail": "a", "head": "to"}, "no column is called 'a'; there are .* name one of them with tail="),
        ({"length": "km"}, "no column is called 'km'"),
        ({"coordinates": "x"}, "coordinates must be four columns, got 'x'"),
        ({"coordinates": ["x", "y", "z", "w"]}, "no column is called 'x'"),
        ({"directions": "turn"}, "directions must be 'merge' or 'keep', got 'turn'"),
        ({"sep": "::"}, "sep must be one sign"),
    ],
)
def test_wrong_options_are_answered_with_what_there_is(tmp_path, options, message):
    with pytest.raises(NetworkError, match=message):
        netbo.read(write(tmp_path, PIPES), **options)


@pytest.mark.parametrize("source", [[1, 2], pd.Series([1.0])])
def test_what_is_no_table_is_refused(source):
    with pytest.raises(NetworkError, match="must be a DataFrame or the path of a CSV"):
        netbo.read(source, format="edge_list")
