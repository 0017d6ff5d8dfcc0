"""The command that makes the paper's figures and tables: what it writes, and what it refuses."""

import json
import re
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from netbo.cli import main
from netbo.experiments import COLUMNS

SMALL = [
    "--quick", "--reps", "2", "--set", "functions=levy", "--set", "max_cell=2", "--set", "horizon_ucb=2",
    "--set", "horizon_ts=2", "--set", "kernels=SPDE,Euclidean nu=1/2",
]  # fmt: skip


def run(*arguments):
    return CliRunner().invoke(main, ["reproduce", *map(str, arguments)])


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduce") / "new" / "folder"
    return run("benchmarks", *SMALL, "--out", out), out


def test_a_run_leaves_table_figures_and_report(small):
    shown, out = small
    folder = out / "benchmarks"
    table = pd.read_parquet(folder / "table.parquet")

    assert shown.exit_code == 0, shown.stderr
    assert tuple(table.columns) == COLUMNS
    assert set(table["method"]) == {
        "SPDE, IGP-UCB", "SPDE, GP-TS", "Euclidean nu=1/2, IGP-UCB", "Euclidean nu=1/2, GP-TS", "data-blind",
        "random",
    }  # fmt: skip
    assert set(table["seed"]) == {0, 1}
    assert (folder / "table.csv").exists()
    assert (folder / "report.md").read_text(encoding="utf-8").startswith("#")
    assert list(folder.glob("**/*.png"))
    assert list(folder.glob("**/*.pdf"))
    assert f"benchmarks: {folder / 'report.md'}" in shown.stdout


def test_the_settings_are_kept_beside_the_results(small):
    stored = json.loads((small[1] / "benchmarks" / "spec.json").read_text(encoding="utf-8"))

    assert stored["spec"]["max_cell"] == [2.0]
    assert stored["spec"]["repetitions"] == 2


def test_a_second_run_computes_nothing_and_a_damaged_part_is_told(small, monkeypatch):
    _, out = small
    part = next((out / "benchmarks" / "parts").rglob("*.json"))
    part.write_text("{", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in out.rglob("parts/*/*.json")}
    shown = run("benchmarks", *SMALL, "--out", out)
    after = {path: path.stat().st_mtime_ns for path in out.rglob("parts/*/*.json")}

    assert shown.exit_code == 0, shown.stderr
    assert f"{part} is not a partial result" in shown.stderr
    assert [path for path in after if after[path] != before[path]] == [part]


def test_a_folder_with_another_spec_is_refused(small):
    shown = run("benchmarks", *SMALL, "--seed", "9", "--out", small[1])

    assert shown.exit_code == 2
    assert "holds another experiment: seed is 0 there and 9 here" in shown.stderr
    assert shown.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "error: an experiment must be one of network, objectives, "),
        (["benchmarks", "nothing"], "got 'nothing'"),
        (["benchmarks", "--reps", "0"], "error: repetitions must be at least 1, got 0"),
        (["benchmarks", "--seed", "-1"], "error: seed must be at least 0, got -1"),
        (["all", "--set", "colour=red"], "has no setting 'colour'"),
        (["benchmarks", "--set", "b=1"], "error: benchmarks has no setting 'b'; it has name, repetitions"),
        (["benchmarks", "--set", "noise"], "a setting must be field=value, got 'noise'"),
        (["objectives", "--jobs", "0"], "jobs must be a whole number of at least one, got 0"),
        (["objectives", "--executor", "cloud"], "executor must be sequential, processes, dask"),
        (["none.toml"], "a spec must be a file that can be read, got none.toml"),
        (["none.toml", "--quick"], "--quick is for experiments by name, got none.toml"),
    ],
)
def test_wrong_input_is_one_line_and_no_work(tmp_path, arguments, message):
    shown = run(*arguments, "--out", tmp_path)

    assert shown.exit_code == 2
    assert message in shown.stderr
    assert shown.stderr.count("\n") == 1
    assert shown.stdout == ""
    assert not list(tmp_path.iterdir())


def test_a_name_is_needed():
    assert run().exit_code == 2


@pytest.mark.parametrize(("package", "extra"), [("pyarrow", "paper"), ("topohub", "telecom")])
def test_a_missing_package_names_its_extra(tmp_path, monkeypatch, package, extra):
    from netbo.experiments import cell as posing

    posing._new_york.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    shown = run("inversion", "--quick", "--out", tmp_path)

    assert shown.exit_code == 2
    assert re.search(rf"install the extra '{extra}': pip install .*'{package}>=", shown.stderr)


def test_help_names_every_experiment():
    shown = run("--help")

    assert shown.exit_code == 0
    for part in ("sensitivity-init", "beyond", "--reps", "--jobs", "--quick", "--executor", "--set", "--out"):
        assert part in shown.output


def test_a_setting_changes_every_experiment_that_has_it():
    from netbo.cli.reproduce import names_of, spec_of, with_settings

    specs = [spec_of(name, quick=False) for name in names_of(["sensitivity-b", "all"])]
    changed = {spec.name: spec for spec in with_settings(specs, ["b=0,1", "seed=4"])}

    assert len(specs) == 8
    assert changed["sensitivity-b"].b == (0.0, 1.0)
    assert changed["benchmarks"].b is None
    assert {spec.seed for spec in changed.values()} == {4}
