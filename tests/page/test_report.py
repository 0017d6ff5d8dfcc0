"""The page in one file: whole, true, the same twice, and safe against what users write into names."""

import base64
import json
import math
import re
from hashlib import sha256

import numpy as np
import pytest

import netbo
from netbo import MetricGraph, Optimizer, open_rectangle
from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links
from netbo.errors import NetworkError, ParameterError
from netbo.optimize import Result
from netbo.page import explore, write_page
from netbo.page.shell import MODULES, STATIC, bundle

EVIL = "</script><script>alert('x')</script>&\"main\"<!--"


def result(graph=None, values=(1.0, math.nan, 3.0, 2.0, 5.0, 4.0), **settings):
    graph = open_rectangle() if graph is None else graph
    optimizer = Optimizer(graph, max_cell=graph.total_length / 60, **settings)
    optimizer.tell(optimizer.search.points[:12:2][: len(values)], values, note=EVIL)
    return Result(optimizer, "tired")


def read(path):
    """The data of a page, as its scripts get them."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0], parse_constant=pytest.fail)


def test_it_holds_what_the_optimizer_says(tmp_path):
    found = result(seed=7)
    data = read(write_page(found, tmp_path / "run.html", label="flow (l/s)"))
    model, trials = data["state"]["model"], data["history"]["trials"]
    pieces = np.frombuffer(base64.b64decode(data["levels"]["mean"]), np.uint8)

    assert model["facts"][:-1] == list(found.summary().facts)
    assert model["facts"][-1] == "stopped    tired"
    assert model["recommend"]["mean"] == found.recommend().mean
    assert model["check"]["words"] == str(found.check())
    assert [row["value"] for row in trials] == [1.0, None, 3.0, 2.0, 5.0, 4.0]
    assert [row["status"] for row in trials][:2] == ["observed", "failed"]
    assert [row["place"]["edge"] for row in trials] == [t.point.edge_id for t in found.optimizer.history]
    assert len(pieces) == data["network"]["pieces"]
    assert ["seed", "7"] in data["settings"]
    assert data["state"]["study"]["value_label"] == "flow (l/s)"


def test_the_policy_names_every_script_and_nothing_comes_from_outside(tmp_path):
    text = write_page(result(), tmp_path / "run.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = {base64.b64encode(sha256(each.encode()).digest()).decode() for each in scripts}

    assert len(scripts) == 2
    assert all(f"'sha256-{each}'" in policy for each in hashes)
    assert "unsafe" not in policy
    assert "connect-src" not in policy
    assert not re.findall(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=", text)


def test_what_users_write_is_text(tmp_path):
    graph = MetricGraph([0], [1], [60.0], positions=[[0, 0], [60, 0]], edge_ids=[EVIL])
    path = write_page(result(graph), tmp_path / "run.html", title=EVIL)
    text = path.read_text(encoding="utf-8")

    assert "alert('x')</script>" not in text
    assert text.count("<!--") == 0
    assert read(path)["network"]["names"] == [EVIL]
    assert 'srcdoc="&lt;!DOCTYPE' in explore(result(graph))._repr_html_()


def test_a_network_gives_its_addresses_and_its_report(tmp_path):
    """The streets cross and were cut; the page speaks of them as they were."""
    lines = [np.array([[0.0, 0.0], [100.0, 0.0]]), np.array([[50.0, -30.0], [50.0, 30.0]])]
    network = assemble(
        Links(source="two streets", ids=["high", "low"], curves=lines, crs="EPSG:32630"), node=True
    )
    data = read(write_page(result(network.graph), tmp_path / "run.html", network))

    assert network.graph.n_edges == 4
    assert {row["place"]["edge"] for row in data["history"]["trials"]} <= {"high", "low"}
    assert set(data["network"]["names"]) == {"high", "low"}
    assert "two streets" in data["network"]["report"]
    assert data["network"]["earth"]


def test_before_five_values_it_gives_no_interval(tmp_path):
    data = read(write_page(result(values=[1.0, 2.0, 3.0, 4.0]), tmp_path / "few.html"))

    assert data["state"]["model"]["sure"].startswith("Too few values to say")
    assert set(base64.b64decode(data["levels"]["sd"])) == {255}


def test_it_can_be_written_without_values_and_without_coordinates(tmp_path):
    bare = MetricGraph([0, 1], [1, 2], [20.0, 30.0])
    empty = read(write_page(Result(Optimizer(bare, max_cell=1.0), "not begun"), tmp_path / "empty.html"))
    failed = read(write_page(result(bare, values=[math.nan]), tmp_path / "failed.html"))
    one = read(write_page(result(bare, values=[1.0]), tmp_path / "one.html"))

    assert empty["state"]["model"]["sure"] == failed["state"]["model"]["sure"]
    assert not empty["levels"]
    assert not one["network"]["drawn"]
    assert one["levels"].keys() == {"mean", "sd", "acquisition", "probability"}


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    write_page(result(), tmp_path / "run.html")

    assert [each.name for each in tmp_path.iterdir()] == ["run.html"]
    with pytest.raises(NetworkError, match="a folder that exists"):
        write_page(result(), tmp_path / "nowhere" / "run.html")


def test_the_network_must_be_the_one_that_was_searched(tmp_path):
    line = np.array([[0.0, 0.0], [100.0, 0.0]])
    other = assemble(Links(source="other", ids=["a"], curves=[line], crs="EPSG:32630"))
    with pytest.raises(ParameterError, match="must be the one that was searched"):
        write_page(result(), tmp_path / "run.html", other)


def test_the_same_run_gives_the_same_page(tmp_path):
    first, second = (write_page(result(), tmp_path / f"{name}.html").read_text() for name in ("a", "b"))

    assert first == second


def test_without_the_map_engine_a_page_is_written_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("netbo.page.shell.find_spec", lambda _: None)
    text = write_page(result(), tmp_path / "run.html").read_text()

    assert text.count("<script>") == 1
    assert len(text) < 300_000


def test_networks_and_studies_are_explored_in_one_call(tmp_path):
    network = netbo.read(open_rectangle())
    study = netbo.Study.create(open_rectangle(), name="s", storage=tmp_path / "s.journal", noise=0.01)
    study.tell(study.ask(), 1.5, by="north")
    html = study.explore().html

    assert "write_html" in repr(network.explore())
    assert '"by": "north"' in html


def test_modules_import_only_from_those_before_them():
    """They are put into one function for a file: order counts, and so do names."""
    for k, name in enumerate(MODULES):
        imported = set(re.findall(r"from '\./([\w.]+)'", (STATIC / name).read_text()))
        assert imported <= set(MODULES[:k]), name
    names = re.findall(r"(?m)^(?:export )?(?:const|let|function|async function|class) (\w+)", bundle())

    assert len(names) == len(set(names))
    assert "import " not in re.sub(r"//.*|/\*.*?\*/", "", bundle())
