"""One HTML file about a run: whole, true, and safe against what users write into names."""

import math
import re
from base64 import b64decode
from html.parser import HTMLParser
from importlib.metadata import version

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from netbo import MetricGraph, Optimizer, open_rectangle
from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links
from netbo.errors import NetworkError, ParameterError
from netbo.optimize.answers import Result
from netbo.optimize.results.page import write_page

mpl.use("Agg")

VOID = {"meta", "img", "br"}
EVIL = "<script>alert('x')</script>&\"main\""


class Reader(HTMLParser):
    """Tags must nest; the text and the rows of all tables are kept."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.links, self.headings, self.rows = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert not reader.open
    return reader


def result(graph=None, values=(1.0, math.nan, 3.0, 2.0, 5.0, 4.0), **settings):
    graph = open_rectangle() if graph is None else graph
    optimizer = Optimizer(graph, max_cell=graph.total_length / 60, **settings)
    optimizer.tell(optimizer.search.points[:12:2][: len(values)], values, note=EVIL)
    return Result(optimizer, "tired")


def test_everything_is_there_and_nothing_comes_from_outside(tmp_path):
    found = result(seed=7)
    page = read(write_page(found, tmp_path / "run.html", label="flow (l/s)"))
    images = [b64decode(link.partition("base64,")[2]) for link in page.links]

    assert page.headings == [
        "Summary", "Recommendation", "Where the best value may be", "Stretches to search", "Maps",
        "Convergence", "Calibration", "Measurements", "Model", "Check", "Settings",
    ]  # fmt: skip
    assert len(images) == 5
    assert all(image.startswith(b"\x89PNG") for image in images)
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert ["seed", "7"] in page.rows
    assert ["netbo", version("netbo")] in page.rows
    assert str(found.summary().facts[2]) in (tmp_path / "run.html").read_text().replace("&#x27;", "'")


def test_measurements_are_in_the_table_with_their_addresses(tmp_path):
    found = result()
    page = read(write_page(found, tmp_path / "run.html"))
    head = page.rows.index(["id", "edge", "distance", "value", "noise variance", "status", "note"])
    rows = page.rows[head + 1 : head + 7]

    assert [row[0] for row in rows] == list("012345")
    assert [row[3] for row in rows] == ["1", "", "3", "2", "5", "4"]
    assert rows[1][5] == "failed"
    for row, trial in zip(rows, found.optimizer.history, strict=True):
        assert row[1] == str(trial.point.edge_id)
        assert float(row[2]) == pytest.approx(trial.point.distance, rel=1e-5)


def test_what_users_write_is_text(tmp_path):
    graph = MetricGraph([0], [1], [60.0], positions=[[0, 0], [60, 0]], edge_ids=[EVIL])
    path = write_page(result(graph), tmp_path / "run.html", title=EVIL, label="level $x")
    page = read(path)

    assert "script" not in page.tags
    assert any(EVIL in row for row in page.rows)


def test_a_network_gives_its_addresses_and_its_report(tmp_path):
    """The streets cross and were cut; the page speaks of them as they were."""
    lines = [np.array([[0.0, 0.0], [100.0, 0.0]]), np.array([[50.0, -30.0], [50.0, 30.0]])]
    network = assemble(
        Links(source="two streets", ids=["high", "low"], curves=lines, crs="EPSG:32630"), node=True
    )
    path = write_page(result(network.graph), tmp_path / "run.html", network)
    page = read(path)
    head = page.rows.index(["id", "edge", "distance (m)", "value", "noise variance", "status", "note"])

    assert network.graph.n_edges == 4
    assert {row[1] for row in page.rows[head + 1 : head + 7]} <= {"high", "low"}
    assert "Network" in page.headings
    assert "two streets" in path.read_text()


def test_before_five_values_it_gives_no_interval(tmp_path):
    path = write_page(result(values=[1.0, 2.0, 3.0, 4.0]), tmp_path / "few.html")
    heads = {cell for row in read(path).rows for cell in row}

    assert heads.isdisjoint({"sd", "low (95 %)", "high (95 %)", "range", "values inside"})
    assert "95 % intervals: too few values to say" in path.read_text()


def test_it_can_be_written_without_values_and_without_coordinates(tmp_path):
    bare = MetricGraph([0, 1], [1, 2], [20.0, 30.0])
    empty = Result(Optimizer(bare, max_cell=1.0), "not begun")

    assert read(write_page(empty, tmp_path / "empty.html")).headings == [
        "Summary",
        "Measurements",
        "Settings",
    ]
    assert len(read(write_page(result(bare), tmp_path / "bare.html")).links) == 5
    assert len(read(write_page(result(values=[math.nan]), tmp_path / "failed.html")).links) == 1
    assert len(read(write_page(result(values=[1.0]), tmp_path / "one.html")).links) == 5


def test_no_figure_is_left_open_and_no_file_half_written(tmp_path):
    write_page(result(), tmp_path / "run.html")

    assert not plt.get_fignums()
    assert [each.name for each in tmp_path.iterdir()] == ["run.html"]
    with pytest.raises(NetworkError, match="a folder that exists"):
        write_page(result(), tmp_path / "nowhere" / "run.html")


def test_the_network_must_be_the_one_that_was_searched(tmp_path):
    line = np.array([[0.0, 0.0], [100.0, 0.0]])
    other = assemble(Links(source="other", ids=["a"], curves=[line], crs="EPSG:32630"))
    with pytest.raises(ParameterError, match="must be the one that was searched"):
        write_page(result(), tmp_path / "run.html", other)


def test_the_same_run_gives_the_same_page(tmp_path):
    first, second = (
        re.sub(r"base64,[^\"]*", "", write_page(result(), tmp_path / f"{name}.html").read_text())
        for name in ("a", "b")
    )

    assert first == second
