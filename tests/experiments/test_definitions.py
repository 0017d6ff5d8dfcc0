"""The experiments themselves: which cells they have, and that their runs are sane."""

import sys
from collections import Counter
from dataclasses import replace

import pytest

from netbo.acquisition import GpTs, IgpUcb
from netbo.errors import ParameterError
from netbo.experiments import DEFINITIONS, definition, run_experiment
from netbo.experiments.statistics import summarize
from netbo.optional import MissingPackageError

BASELINES = {"data-blind", "random"}
PICTURES = ("network", "objectives")
WITH_RUNS = [name for name in DEFINITIONS if name not in PICTURES]


def labels(cells, name):
    return {cell.labels.get(name) for cell in cells}


def test_the_names_are_those_of_the_command():
    assert list(DEFINITIONS) == [
        "network", "objectives", "benchmarks", "inversion", "sensitivity-b", "sensitivity-init", "placement",
        "beyond",
    ]  # fmt: skip
    for name, each in DEFINITIONS.items():
        assert each.default_spec().name == each.quick_spec().name == each.name == name
        assert each.quick_spec().quick
        assert not each.default_spec().quick


def test_an_unknown_experiment_is_refused():
    with pytest.raises(
        ParameterError, match=r"an experiment must be one of network, .*, beyond or all, got 'x'"
    ):
        definition("x")


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_need_no_runs(name):
    assert definition(name).cells(definition(name).default_spec()) == []


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", WITH_RUNS)
def test_every_experiment_has_keys_of_its_own_and_all_baselines(name, quick):
    pytest.importorskip("topohub")
    spec = definition(name).quick_spec() if quick else definition(name).default_spec()
    cells = definition(name).cells(spec)

    assert max(Counter(cell.key for cell in cells).values()) == 1
    assert {cell.labels["experiment"] for cell in cells} == {name}
    assert labels(cells, "kernel") == {"SPDE", "Euclidean nu=1/2", "Euclidean nu=3/2", "none"}
    assert labels(cells, "acquisition") == {"IGP-UCB", "GP-TS", *BASELINES}
    assert labels(cells, "preset") >= {"paper", ""}
    for cell in cells:
        assert cell.settings["design"].size >= cell.n_init
        assert cell.key == cell.key.lower()
        assert not set(cell.key) & set(" /\\:,=")


def test_the_benchmarks_are_the_papers():
    spec = definition("benchmarks").default_spec()
    cells = definition("benchmarks").cells(spec)

    assert (spec.repetitions, spec.tolerance, spec.noise) == (60, 1e-6, 0.05**2)
    assert labels(cells, "problem") == {"ackley", "rastrigin", "levy"}
    assert len(cells) == 3 * (2 * 3 + 2)
    for cell in cells:
        assert cell.n_init == 8
        assert cell.horizon == (60 if cell.labels["acquisition"] == "GP-TS" else 40)
        assert (
            isinstance(cell.settings.get("acquisition"), IgpUcb | GpTs) or cell.labels["method"] in BASELINES
        )


def test_the_misspecification_reaches_the_width():
    spec = definition("sensitivity-b").default_spec()
    cells = definition("sensitivity-b").cells(spec)
    own = [cell for cell in cells if cell.labels["kernel"] in ("SPDE", "Euclidean nu=1/2")]
    tried = [cell for cell in own if cell.labels["acquisition"] not in BASELINES]

    assert len(tried) == 3 * 2 * 2 * 5
    assert labels(tried, "b") == {0.0, 0.05, 0.1, 0.2, 0.5}
    for cell in tried:
        assert cell.settings["acquisition"].width.misspecification == cell.labels["b"]


def test_designs_and_meshes_are_crossed():
    spec = definition("sensitivity-init").default_spec()
    cells = definition("sensitivity-init").cells(spec)
    spde = [cell for cell in cells if cell.labels["method"] == "SPDE, IGP-UCB"]

    assert {(cell.n_init, cell.labels["max_cell"]) for cell in spde} == {
        (n, h) for n in (1, 2, 4, 8, 10, 12, 16) for h in (0.5, 0.25, 0.15)
    }
    assert labels(cells, "problem") == {"levy"}
    (matched,) = [cell for cell in cells if cell.labels["method"] == "Euclidean nu=3/2, GP-TS"]
    assert (matched.n_init, matched.labels["max_cell"]) == (8, 0.25)


def test_experiments_share_the_runs_they_have_in_common():
    """b = 0 and the middle of the sweep over designs are benchmarks already."""
    prints = {
        name: {
            cell.key: cell.fingerprint() for cell in definition(name).cells(definition(name).default_spec())
        }
        for name in ("benchmarks", "sensitivity-b", "sensitivity-init")
    }
    known = prints["benchmarks"].items()

    assert known <= prints["sensitivity-b"].items()
    assert len(known & prints["sensitivity-init"].items()) == 8


def test_nothing_is_measured_on_new_york():
    """R = 0 in the widths; the nugget is that of the model, and calibrated methods know values are exact."""
    pytest.importorskip("topohub")
    cells = definition("beyond").cells(definition("beyond").quick_spec())
    new_york = [cell for cell in cells if cell.labels["problem"] == "newyork"]

    assert new_york
    for cell in new_york:
        assert cell.settings["noise"] == (0.0 if cell.labels["preset"] == "calibrated" else 1e-4)
        if cell.labels["preset"] == "paper" and cell.labels["acquisition"] not in BASELINES:
            assert cell.settings["acquisition"].width.noise_bound == 0.0
    assert len(labels(definition("inversion").cells(definition("inversion").default_spec()), "source")) == 8


def test_every_placement_meets_both_presets():
    cells = definition("placement").cells(definition("placement").default_spec())

    assert labels(cells, "placement") == {"gap-end", "interior", "mid-top", "corner", "near-gap"}
    assert labels(cells, "preset") == {"paper", "calibrated", ""}
    assert {"calibrated, GP-TS", "calibrated, IGP-UCB"} < labels(cells, "method")


def test_beyond_holds_every_departure():
    pytest.importorskip("topohub")
    cells = definition("beyond").cells(definition("beyond").default_spec())

    assert len({(cell.labels["problem"], cell.labels.get("placement")) for cell in cells}) == 15 + 1
    assert len(labels(cells, "source") - {None}) == 12
    assert labels(cells, "method") >= {
        "SPDE, IGP-UCB", "SPDE, GP-TS", "calibrated, GP-TS", "calibrated, batches of 4",
        "calibrated, alpha by evidence", "calibrated, mesh-free", "calibrated, continuum",
        "calibrated, Euclidean nu=3/2",
    }  # fmt: skip
    assert {cell.horizon for cell in cells} == {40}


@pytest.mark.parametrize("name", ["inversion", "beyond"])
def test_without_topohub_the_extra_is_named(name, monkeypatch):
    from netbo.experiments import cell as posing

    posing._new_york.cache_clear()
    monkeypatch.setitem(sys.modules, "topohub", None)

    with pytest.raises(MissingPackageError, match=r"install the extra 'telecom': pip install 'topohub>=1.4'"):
        definition(name).cells(definition(name).quick_spec())


def test_the_network_kernel_finds_the_gap_end_and_random_search_does_not(tmp_path):
    """Rates of 6 runs on a coarse mesh; the paper's is 100 % for IGP-UCB, chance hits 12 of 76 nodes."""
    spec = replace(
        definition("benchmarks").default_spec(), repetitions=6, functions=("levy",), max_cell=(1.0,),
        kernels=("SPDE",), acquisitions=("IGP-UCB",), baselines=("random",), horizon_ucb=12,
    )  # fmt: skip
    table = run_experiment(spec, definition("benchmarks").cells(spec), tmp_path)
    rates = summarize(table, 1e-6, by=["method"]).set_index("method")

    assert rates.loc["SPDE, IGP-UCB", "rate"] >= 5 / 6
    assert rates.loc["random", "rate"] <= 0.5
    assert rates.loc["SPDE, IGP-UCB", "iterations"] < 8
