import json
from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from netbo.adapters import (
    Links,
    Treatment,
    as_network,
    assemble,
    content_hash,
    dump,
    load,
    read_network,
    write_network,
)
from netbo.adapters.netbo_json import decode, encode
from netbo.errors import NetworkError
from netbo.geometry import Curves, MetricGraph, Points, star
from support.strategies import metric_graphs


def network():
    """Everything at once: tuples as ids, a noded street, a pump, an alias, curves, a map, attributes."""
    curves = [
        np.array([[-0.14, 51.51], [-0.135, 51.512], [-0.13, 51.51]]),
        np.array([[-0.135, 51.505], [-0.135, 51.52]]),
        np.array([[-0.13, 51.51], [-0.12, 51.51]]),
        np.array([[-0.12, 51.51], [-0.11, 51.51]]),
    ]
    links = Links(
        source="a test", ids=[(1, 2, 0), "across", 7, 2.5], curves=curves, crs="EPSG:4326",
        aliases={(2, 1, 0): ((1, 2, 0), True)},
        treatments=[Treatment.KEEP, Treatment.KEEP, Treatment.CONTRACT, Treatment.KEEP],
        attributes={
            "name": ["Broad", None, "pump", "x"], "width": np.array([1.5, np.nan, 0.1, np.inf]),
            "lanes": np.array([1, 2, 3, 4]), "tags": [["a", "b"], {"k": 1}, (), True],
            "since": [date(1854, 9, 8), datetime(1854, 9, 8, 12, 30), 1.5, np.float64(2.5)],
        },
    )  # fmt: skip
    return assemble(links, node=True, snap=0.5)


def assert_same_graph(one: MetricGraph, other: MetricGraph):
    for name in ("tails", "heads", "lengths", "positions"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert tuple(one.edge_ids) == tuple(other.edge_ids)
    assert tuple(one.vertex_ids) == tuple(other.vertex_ids)
    assert (one.crs, one.unit) == (other.crs, other.unit)
    assert (one.curves is None) == (other.curves is None)
    if one.curves is not None:
        for name in ("coordinates", "starts", "fractions"):
            assert_array_equal(getattr(one.curves, name), getattr(other.curves, name))


def test_a_network_comes_back_to_the_last_bit(tmp_path):
    before = network()
    write_network(before, tmp_path / "net.json")
    after = read_network(tmp_path / "net.json")

    assert_same_graph(before.graph, after.graph)
    assert after.report == before.report
    assert str(after.report) == str(before.report)
    assert dict(after.addresses.aliases) == dict(before.addresses.aliases)
    for name in ("lengths", "starts", "begin", "end", "edge", "z_begin", "z_end"):
        assert_array_equal(getattr(after.addresses, name), getattr(before.addresses, name))
    for name in [(1, 2, 0), (2, 1, 0), "across", 7, 2.5]:
        assert after.points([name], fraction=0.3) == before.points([name], fraction=0.3)
    assert after.locate([[-0.135, 51.51]])[0] == before.locate([[-0.135, 51.51]])[0]


def test_attributes_come_back_as_they_were():
    before, after = network().graph.edge_attributes, load(dump(network())).graph.edge_attributes

    assert list(after) == list(before)
    for name in ("name", "tags", "since"):
        assert after[name] == before[name]
    for name in ("width", "lanes"):
        assert after[name].dtype == before[name].dtype
        assert_array_equal(after[name], before[name])


@settings(max_examples=25, deadline=None)
@given(metric_graphs(is_drawn=True))
def test_any_graph_comes_back(graph):
    after = load(json.loads(json.dumps(dump(graph), allow_nan=False)))

    assert_same_graph(graph, after.graph)
    assert content_hash(after.graph) == content_hash(graph)


def test_fractions_of_their_own_come_back():
    """After an edit, the share of the length need not be the share of the drawing."""
    curves = Curves(np.array([[0.0, 0], [1, 0], [3, 0]]), np.array([0, 3]), np.array([0.0, 0.7, 1.0]))
    graph = MetricGraph([0], [1], [2.0], curves=curves)

    assert_array_equal(load(dump(graph)).graph.curves.fractions, [0, 0.7, 1])


def test_the_hash_depends_on_what_makes_the_network():
    graph = star(3)
    base = content_hash(graph)
    changed = [
        MetricGraph(graph.heads, graph.tails, graph.lengths, positions=graph.positions),
        MetricGraph(graph.tails, graph.heads, graph.lengths * (1 + 1e-15), positions=graph.positions),
        MetricGraph(graph.tails, graph.heads, graph.lengths),
        MetricGraph(graph.tails, graph.heads, graph.lengths, positions=graph.positions, edge_ids="abc"),
    ]

    assert content_hash(star(3)) == base
    assert len({base, *map(content_hash, changed)}) == 5


def test_a_subset_of_attributes_can_be_written():
    document = dump(network(), attributes=["name"])

    assert list(load(document).graph.edge_attributes) == ["name"]
    with pytest.raises(NetworkError, match="attributes must be there, got 'nam'; there are 'name', 'width'"):
        dump(network(), attributes=["nam"])


def test_values_that_have_no_form_name_their_column(tmp_path):
    graph = MetricGraph([0], [1], [1.0], edge_attributes={"shape": [object()]})

    with pytest.raises(NetworkError, match="got object in attribute 'shape'; leave it out"):
        write_network(graph, tmp_path / "net.json")
    assert list(tmp_path.iterdir()) == []


def test_other_documents_are_refused():
    for document in ({"type": "FeatureCollection"}, [1, 2], "text"):
        with pytest.raises(NetworkError, match="a network of our own says format 'netbo-network'"):
            load(document)
    with pytest.raises(NetworkError, match="reads version 1 of its own files, got 2"):
        load(dump(star(3)) | {"version": 2})


def test_damage_is_noticed(tmp_path):
    document = dump(network())
    changed = json.loads(json.dumps(document))
    changed["graph"]["lengths"]["~array"][0] += 1e-9
    partial = {name: value for name, value in document.items() if name != "addresses"}
    strange = json.loads(json.dumps(document))
    strange["graph"]["tails"] = {"~other": 1}
    (tmp_path / "torn.json").write_text(json.dumps(document)[:500])

    with pytest.raises(NetworkError, match="its checksum does not fit"):
        load(changed)
    with pytest.raises(NetworkError, match="the network is damaged: KeyError 'addresses'"):
        load(partial)
    with pytest.raises(NetworkError, match="of a known kind, got '~other'"):
        load(strange)
    with pytest.raises(NetworkError, match=r"torn\.json' is no JSON that can be read"):
        read_network(tmp_path / "torn.json")
    with pytest.raises(NetworkError, match="no file is called"):
        read_network(tmp_path / "none.json")


def test_a_refusal_names_the_file(tmp_path):
    (tmp_path / "other.json").write_text("{}")

    with pytest.raises(NetworkError, match=r"other\.json': a network of our own"):
        read_network(tmp_path / "other.json")


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 0.1, -0.0, "text", (1, ("a", 2.5)), [1, (2,)], range(2, 9, 3), float("inf"), {"a": (1,)}],
)
def test_values_come_back_with_their_type(value):
    back = decode(json.loads(json.dumps(encode(value, "a test"), allow_nan=False)))

    assert back == value
    assert type(back) is type(value)


def test_a_key_that_looks_like_ours_is_no_danger():
    value = {"~tuple": [1], "~array": 2}

    assert decode(encode(value, "a test")) == value


def test_a_graph_that_was_written_is_read_as_a_network():
    graph = star(3)
    after = load(dump(graph))

    assert after.points(1, 0.5) == Points([1], [0.5])
    assert after.report == as_network(graph).report
