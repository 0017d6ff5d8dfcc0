"""Runs resumed, repaired and refused; the same table whoever makes them."""

import json
import sys
from dataclasses import replace

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import netbo
from netbo.errors import ParameterError
from netbo.experiments import COLUMNS, definition, open_workers, run_experiment, runner
from netbo.experiments.cell import run_cell
from netbo.optional import MissingPackageError

SPEC = replace(
    definition("benchmarks").quick_spec(), functions=("levy",), kernels=("SPDE",), repetitions=2,
    max_cell=(2.0,), horizon_ucb=3, horizon_ts=3, n_init=(4,),
)  # fmt: skip


def small_cells(spec=SPEC):
    """SPDE with both acquisitions, data-blind and random: 4 cells on a coarse mesh, runs of a few queries."""
    return definition("benchmarks").cells(spec)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """A table made one run after another, and its folder."""
    out = tmp_path_factory.mktemp("reference")
    return run_experiment(SPEC, small_cells(), out), out


@pytest.fixture
def counted(monkeypatch):
    """Cells and seeds that are really run, in their order."""
    made = []

    def counting(cell, seed):
        made.append((cell.key, seed))
        return run_cell(cell, seed)

    monkeypatch.setattr(runner, "run_cell", counting)
    return made


@pytest.fixture
def finished(tmp_path, reference):
    """A folder of its own that holds all runs."""
    for path in sorted(reference[1].rglob("*")):
        if path.is_file():
            copy = tmp_path / path.relative_to(reference[1])
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return tmp_path


def test_every_cell_has_every_seed(reference):
    table, out = reference
    cells = small_cells()

    assert tuple(table.columns) == COLUMNS
    assert list(dict.fromkeys(table["cell"])) == [cell.key for cell in cells]
    assert set(map(tuple, table[["cell", "seed"]].to_numpy())) == {
        (cell.key, seed) for cell in cells for seed in (0, 1)
    }
    assert {path.name for path in out.iterdir()} == {"spec.json", "parts", "table.parquet", "table.csv"}
    assert len(list(out.rglob("*.json"))) == 1 + 2 * len(cells)


def test_both_files_hold_the_table(reference):
    table, out = reference

    assert_frame_equal(pd.read_parquet(out / "table.parquet"), table, check_exact=True)
    read = pd.read_csv(
        out / "table.csv",
        float_precision="round_trip",
        keep_default_na=False,
        na_values={"b": ""},
        dtype={"edge": str},
    )
    assert_frame_equal(read, table, check_exact=True, check_dtype=False)


def test_a_finished_experiment_is_not_computed_again(reference, finished, counted):
    steps = []
    again = run_experiment(
        SPEC, small_cells(), finished, progress=lambda done, total: steps.append((done, total))
    )

    assert counted == []
    assert steps == [(8, 8)]
    assert_frame_equal(again, reference[0], check_exact=True)


def test_only_missing_runs_are_made(reference, finished, counted):
    first, second = small_cells()[0], small_cells()[2]
    (finished / "parts" / first.key / "1.json").unlink()
    (finished / "parts" / second.key / "0.json").unlink()
    steps, messages = [], []
    again = run_experiment(
        SPEC, small_cells(), finished, progress=lambda done, total: steps.append(done), tell=messages.append
    )

    assert counted == [(second.key, 0), (first.key, 1)]
    assert steps == [6, 7, 8]
    assert messages == []
    assert_frame_equal(again, reference[0], check_exact=True)


def test_a_run_broken_off_goes_on_where_it_stopped(reference, tmp_path, monkeypatch, counted):
    def interrupted(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(SPEC, small_cells(), tmp_path, progress=interrupted)
    assert len(counted) == 3
    again = run_experiment(SPEC, small_cells(), tmp_path)

    assert len(counted) == 8
    assert len(set(counted)) == 8
    assert_frame_equal(again, reference[0], check_exact=True)


def test_the_same_runs_of_another_experiment_are_taken(reference, finished, tmp_path_factory, counted):
    """b = 0 is the benchmark itself; a damaged part and other settings are not taken."""
    out = tmp_path_factory.mktemp("other")
    damaged = small_cells()[0].key
    (finished / "parts" / damaged / "1.json").write_text("{", encoding="utf-8")
    spec = replace(SPEC, name="sensitivity-b", b=(0.0, 0.5))
    cells = definition("sensitivity-b").cells(spec)
    table = run_experiment(spec, cells, out, others=[out / "nowhere", finished])
    same = table[(table["b"] != 0.5)].drop(columns="experiment").reset_index(drop=True)

    assert len(cells) == 6
    assert len(counted) == 2 * 2 + 1
    assert (damaged, 1) in counted
    assert set(table["experiment"]) == {"sensitivity-b"}
    assert_frame_equal(same, reference[0].drop(columns="experiment"), check_exact=True)


def _cut(text):
    return text[: len(text) // 2]


def _flip(text):
    stored = json.loads(text)
    stored["run"] = stored["run"].replace('"maximum": 0.0', '"maximum": 1.0')
    assert json.loads(text) != stored
    return json.dumps(stored)


def _other_settings(text):
    return json.dumps({**json.loads(text), "cell": "0" * 64})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: "", "is not a partial result"),
        (_cut, "is not a partial result"),
        (lambda text: "[1, 2]", "is not a partial result"),
        (lambda text: '{"cell": "", "hash": "", "run": 3}', "was changed after it was written"),
        (_flip, "was changed after it was written"),
        (_other_settings, "was made with other settings"),
    ],
    ids=["empty", "cut", "list", "number", "changed", "settings"],
)
def test_a_corrupted_part_is_made_again_with_a_message(reference, finished, counted, damage, message):
    cell = small_cells()[1]
    path = finished / "parts" / cell.key / "0.json"
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    messages = []
    again = run_experiment(SPEC, small_cells(), finished, tell=messages.append)

    assert counted == [(cell.key, 0)]
    (said,) = messages
    assert message in said
    assert said.startswith(str(path))
    assert said.endswith("that run is made again")
    assert_frame_equal(again, reference[0], check_exact=True)


def test_an_unfinished_file_is_no_result(finished, counted):
    cell = small_cells()[0]
    path = finished / "parts" / cell.key / "0.json"
    path.rename(path.with_name("0.json.unfinished"))
    run_experiment(SPEC, small_cells(), finished)

    assert counted == [(cell.key, 0)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 5}, "seed is 0 there and 5 here"),
        ({"repetitions": 3}, "repetitions is 2 there and 3 here"),
        ({"n_init": (5,)}, r"n_init is \[4\] there and \[5\] here"),
    ],
)
def test_a_folder_with_another_spec_is_refused(finished, counted, changes, message):
    spec = replace(SPEC, **changes)

    with pytest.raises(ParameterError, match=f"holds another experiment: {message}"):
        run_experiment(spec, small_cells(spec), finished)
    assert counted == []


def test_a_folder_of_another_version_is_refused(finished, monkeypatch):
    monkeypatch.setattr(netbo, "__version__", "9.9.9")

    with pytest.raises(ParameterError, match=r"holds results of netbo \d.*, this is 9.9.9"):
        run_experiment(SPEC, small_cells(), finished)


def test_a_folder_whose_spec_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "spec.json").write_text("{", encoding="utf-8")

    with pytest.raises(ParameterError, match=r"spec\.json must be the spec of an experiment"):
        run_experiment(SPEC, small_cells(), tmp_path)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(ParameterError, match="--out must be a folder that can be written to"):
        run_experiment(SPEC, small_cells(), tmp_path / "file")


def test_two_cells_of_one_name_are_refused(tmp_path):
    cells = small_cells()

    with pytest.raises(ParameterError, match="cells need keys of their own, got 'levy-gap-end-spde-igp-ucb"):
        run_experiment(SPEC, [*cells, cells[0]], tmp_path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingPackageError, match=r"install the extra 'paper': pip install 'pyarrow>=17'"):
        run_experiment(SPEC, [], tmp_path)


def test_no_cells_make_an_empty_table(tmp_path):
    table = run_experiment(SPEC, [], tmp_path)

    assert tuple(table.columns) == COLUMNS
    assert table.empty


def test_two_processes_make_the_same_table(reference, tmp_path):
    with open_workers("processes", 2) as workers:
        table = run_experiment(SPEC, small_cells(), tmp_path, workers=workers)

    assert_frame_equal(table, reference[0], check_exact=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of dask's own dependencies
def test_a_dask_cluster_makes_the_same_table(reference, tmp_path):
    pytest.importorskip("distributed")
    with open_workers("dask", 2) as workers:
        assert workers.count == 2
        table = run_experiment(SPEC, small_cells(), tmp_path, workers=workers)

    assert_frame_equal(table, reference[0], check_exact=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_running_dask_cluster_is_used_by_its_address(reference, tmp_path):
    distributed = pytest.importorskip("distributed")
    settings = {"host": "127.0.0.1", "dashboard_address": None, "n_workers": 1, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(**settings) as cluster,
        open_workers(cluster.scheduler_address.replace("tcp://", "dask://")) as workers,
    ):
        table = run_experiment(SPEC, small_cells()[:1], tmp_path, workers=workers)

    assert_frame_equal(table, reference[0].iloc[: len(table)], check_exact=True)
