"""One run of one cell: where it starts, when it stops, what its rows say."""

from dataclasses import replace

import numpy as np
import pytest

from netbo import Optimizer
from netbo.acquisition import IgpUcb, PaperWidth
from netbo.experiments.cell import COLUMNS, Cell, Rectangle, Source, draw_sources, rows_of, run_cell
from netbo.experiments.methods import (
    Setting,
    baseline,
    calibrated_method,
    calibrated_variants,
    cell,
    paper_method,
    straight_design,
)
from netbo.experiments.spec import Spec

POSE = Rectangle("ackley", "gap-end", 0.5, 0.0025)
SPEC = Spec("benchmarks", horizon_ucb=12, horizon_ts=12, tolerance=1e-6, noise=0.0025)


def make(method, **changes):
    return cell(replace(SPEC, **changes), Setting(POSE, 8, 0.0025), method)


def test_a_run_is_the_loop_of_ask_and_tell_written_by_hand():
    """alg: benchmarks with the paper's preset, stopped at Tol; measurement errors from the seed."""
    problem, rng = POSE(), np.random.default_rng([3, 1])
    optimizer = Optimizer(
        problem.space,
        preset="paper",
        acquisition=IgpUcb(PaperWidth(misspecification=0.1)),
        noise=0.0025,
        seed=3,
    )
    measured = []
    for t in range(20):
        suggestion = optimizer.ask()
        measured.append(problem(suggestion.point) + 0.05 * rng.standard_normal())
        optimizer.tell(suggestion, measured[-1])
        if t >= 8 and problem.maximum - problem(suggestion.point) <= 1e-6:
            break

    assert list(run_cell(make(paper_method("SPDE", "IGP-UCB", b=0.1)), 3).measured) == measured


@pytest.mark.parametrize(
    "method",
    [
        paper_method("SPDE", "IGP-UCB"),
        paper_method("Euclidean nu=3/2", "GP-TS"),
        calibrated_method(),
        baseline("random"),
    ],
    ids=lambda method: method.label,
)
def test_all_methods_share_the_design_and_its_measurements(method):
    reference = run_cell(make(paper_method("Euclidean nu=1/2", "IGP-UCB"), horizon_ucb=1), 5)
    run = run_cell(make(method, horizon_ucb=1, horizon_ts=1), 5)

    assert run.edge[:8] == reference.edge[:8]
    assert run.distance[:8] == reference.distance[:8]
    assert run.measured[:8] == reference.measured[:8]


def test_a_run_stops_at_the_first_query_after_the_design_within_the_tolerance():
    """With a tolerance that every place satisfies, one query after the design."""
    at_once = run_cell(make(baseline("random"), tolerance=2.0), 0)
    never = run_cell(make(baseline("random"), tolerance=0.0, horizon_ucb=5), 1)

    assert len(at_once.value) == 8 + 1
    assert len(never.value) == 8 + 5
    assert min(never.maximum - np.array(never.value)) > 0


def test_a_design_that_meets_the_maximum_does_not_end_the_run():
    """Only queries after the design count: half of the nodes are measured first, one of them the best."""
    pose = Rectangle("ackley", "gap-end", 10.0, 0.0025)
    n_nodes = pose().space.n_nodes
    everywhere = replace_setting(make(baseline("random"), tolerance=0.0, horizon_ucb=2), pose, n_nodes)
    run = run_cell(everywhere, 0)

    assert max(run.value[:n_nodes]) == run.maximum
    assert len(run.value) > n_nodes


def replace_setting(old, pose, n_init):
    settings = {**old.settings, "design": straight_design(n_init)}
    settings |= {"acquisition": "random", "noise": 0.0025}
    return Cell("all", {"n_init": n_init}, pose, settings, old.horizon, old.tolerance)


def test_batches_are_measured_as_a_whole_and_do_not_exceed_the_horizon():
    batches = calibrated_variants()[0]
    complete = run_cell(make(batches, tolerance=2.0), 0)
    cut = run_cell(make(batches, tolerance=0.0, horizon_ts=6), 1)

    assert batches.batch == 4
    assert len(complete.value) == 8 + 4
    assert len(cut.value) == 8 + 6 or cut.maximum == max(cut.value)


def test_the_continuum_is_searched_between_the_nodes():
    (continuum,) = [each for each in calibrated_variants() if each.is_continuous]
    run = run_cell(make(continuum, horizon_ts=4), 2)
    nodes = {(str(place.edge_id), place.distance) for place in POSE().space.nodes}

    assert not set(zip(run.edge[8:], run.distance[8:], strict=True)) <= nodes


def test_rows_follow_the_schema():
    method = paper_method("SPDE", "GP-TS", b=0.2)
    rows = rows_of(run_cell(make(method, horizon_ts=3), 4), make(method, horizon_ts=3), 4)

    assert tuple(rows.columns) == COLUMNS
    assert list(rows["query"]) == list(range(len(rows)))
    assert list(rows["iteration"]) == [0] * 8 + list(range(1, len(rows) - 7))
    assert list(rows["is_design"]) == [True] * 8 + [False] * (len(rows) - 8)
    assert rows["regret"].to_numpy() == pytest.approx(rows["maximum"] - rows["value"])
    assert set(rows["method"]) == {"SPDE, GP-TS"}
    assert (rows["experiment"].iloc[0], rows["seed"].iloc[0], rows["b"].iloc[0]) == ("benchmarks", 4, 0.2)
    assert (rows["problem"].iloc[0], rows["placement"].iloc[0], rows["source"].iloc[0]) == (
        "ackley",
        "gap-end",
        "",
    )
    assert rows["n_nodes"].iloc[0] == POSE().space.n_nodes
    assert not rows.drop(columns=["b"]).isna().any(axis=None)


def test_labels_that_do_not_apply_are_empty():
    blind = make(baseline("random"))
    rows = rows_of(run_cell(blind, 0), blind, 0)

    assert rows["b"].isna().all()
    assert set(rows["kernel"]) == {"none"}
    assert set(rows["source"]) == {""}


def test_values_are_those_of_the_objective_at_the_recorded_places():
    problem, run = POSE(), run_cell(make(paper_method("SPDE", "IGP-UCB")), 1)
    places = problem.graph.points([int(edge) for edge in run.edge], run.distance)

    assert problem(places) == pytest.approx(run.value, abs=1e-12)


def test_fingerprints_tell_cells_apart_and_survive_a_rebuild():
    first = make(paper_method("SPDE", "IGP-UCB"))

    assert make(paper_method("SPDE", "IGP-UCB")).fingerprint() == first.fingerprint()
    others = [
        make(paper_method("SPDE", "IGP-UCB", b=0.1)),
        make(paper_method("SPDE", "GP-TS")),
        make(paper_method("SPDE", "IGP-UCB"), tolerance=1e-3),
        make(paper_method("SPDE", "IGP-UCB", noise_bound=0.0)),
        make(calibrated_method()),
    ]
    elsewhere = cell(
        replace(SPEC, name="placement"), Setting(POSE, 8, 0.0025), paper_method("SPDE", "IGP-UCB")
    )
    assert elsewhere.fingerprint() == first.fingerprint()  # the same runs, whatever they are for

    assert len({first.fingerprint(), *(each.fingerprint() for each in others)}) == 6


def test_sources_lie_at_different_nodes_and_name_their_edges():
    pytest.importorskip("topohub")
    sources = draw_sources(3, 1.0)
    method = paper_method("SPDE", "IGP-UCB", noise_bound=0.0)
    made = cell(replace(SPEC, noise=1e-4, horizon_ucb=2), Setting(sources[0], 4, 0.0), method)
    run = run_cell(made, 0)

    assert len({source.node for source in sources}) == 3
    assert draw_sources(3, 1.0) == sources
    assert isinstance(sources[0], Source)
    assert all(name.startswith("N") and "-N" in name for name in run.edge)
    assert run.measured == run.value  # computed, not measured
    assert made.labels["source"] == str(sources[0].node)
