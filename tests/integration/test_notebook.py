"""What people see in a notebook: executed in a real kernel, once for all claims."""

import base64
import re

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = {
    "setup": """
import math, time
import optuna
import netbo
optuna.logging.set_verbosity(optuna.logging.ERROR)
graph = netbo.MetricGraph(
    [0, 1, 1], [1, 2, 3], [3.0, 2.0, 1.0], positions=[(0, 0), (3, 0), (3, 2), (4, 0)],
    edge_ids=["<main>", "b", "c"], unit="km",
)
network = netbo.read(graph)
def level(x):
    time.sleep(0.06)  # slower than the bar is drawn
    return math.sin(x.distance) if x.edge_id == "<main>" else 0.1
""",
    "maximize": "result = netbo.maximize(level, network, budget=10, noise=0.01)",
    "quiet": "netbo.maximize(level, network, budget=2, noise=0.01, progress=False).stopped",
    "broken": """
def breaks(x):
    if x.edge_id != "<main>":
        raise KeyboardInterrupt
    return 0.0
netbo.maximize(breaks, network, budget=10, noise=0.01).stopped
""",
    "work": """
study = netbo.Study.create(network, name="<leak>", storage=optuna.storages.InMemoryStorage(), noise=0.01)
done = study.work(level, budget=6)
""",
    **{
        f"show {name}": code
        for name, code in {
            "Network": "network",
            "NetworkReport": "network.report",
            "MetricGraph": "graph",
            "Result": "result",
            "Optimizer": "result.optimizer",
            "Study": "study",
            "MixturePosterior": "result.posterior",
            "SearchList": "result.search_list(draws=50)",
            "History": "result.optimizer.history",
        }.items()
    },
}
WITHOUT_PICTURE = {"NetworkReport", "History"}  # they hold no network
SHOWN = [name.removeprefix("show ") for name in CELLS if name.startswith("show ")]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Outputs of every cell by its name."""
    cells = [nbformat.v4.new_code_cell(code.strip()) for code in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    folder = str(tmp_path_factory.mktemp("notebook"))
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def bars(outputs):
    return [each for each in outputs if each.output_type == "display_data"]


def test_a_run_shows_one_bar_that_is_updated_in_place(outputs):
    """The client keeps what the display showed last: an appended bar would be another output."""
    [bar] = bars(outputs["maximize"])

    assert re.fullmatch(r"maximize: 10 of 10, best 0\.\d+, \d+ s in all", bar.data["text/plain"])
    assert "width:100.0%" in bar.data["text/html"]


def test_a_bar_can_be_left_out(outputs):
    assert bars(outputs["quiet"]) == []


def test_a_run_that_was_broken_off_leaves_its_bar_where_it_stood(outputs):
    [bar] = bars(outputs["broken"])
    done = int(re.match(r"maximize: (\d+) of 10", bar.data["text/plain"])[1])

    assert done < 10
    assert outputs["broken"][-1].data["text/plain"] == "'interrupted'"


def test_a_worker_of_a_study_shows_a_bar_too(outputs):
    [bar] = bars(outputs["work"])

    assert bar.data["text/plain"].startswith("<leak>: 6 of 6, best ")
    assert "&lt;leak&gt;: 6 of 6" in bar.data["text/html"]


@pytest.mark.parametrize("name", SHOWN)
def test_objects_are_shown_as_a_table_of_facts_with_a_small_picture(outputs, name):
    [shown] = [each for each in outputs[f"show {name}"] if each.output_type == "execute_result"]
    html, plain = shown.data["text/html"], shown.data["text/plain"]
    pictures = re.findall(r'<img alt="[^"]+"[^>]* src="data:image/svg\+xml;base64,([^"]+)">', html)

    assert html.startswith(f"<div><strong>{name}")
    assert "<table" in html
    assert "<pre" not in html
    assert "<main>" not in html
    assert "<leak>" not in html
    assert len(pictures) == (name not in WITHOUT_PICTURE)
    assert all(base64.b64decode(data).startswith(b"<svg xmlns=") for data in pictures)
    assert plain.startswith(f"{name}(")
    assert "\n" not in plain
    assert "0x" not in plain
