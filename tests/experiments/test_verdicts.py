import pytest

from netbo.experiments import Spec
from netbo.experiments.claims import NOT_PRINTED, Verdict, check, judge_iterations, judge_rate
from netbo.experiments.printed import PrintedCell, sentences
from netbo.experiments.statistics import (
    Estimate,
    metric_names,
    paired_effects,
    references_of,
    runs_of,
    wilson_interval,
)
from support.tables import both_kernels, cell_rows, table_of

TENS = [1, 2, 3, 2, 1] * 12  # 60 runs that succeed
NONE = [None] * 60


def printed(rate, iterations=4.0):
    return PrintedCell("tab:x", "IGP-UCB", "ackley", "SPDE", 0.0, rate, iterations)


def rate_of(found, n):
    return Estimate(found / n, *wilson_interval(found, n), n)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        (rate_of(60, 60), 1.0, Verdict.AGREES),
        (rate_of(54, 60), 1.0, Verdict.DIFFERS),
        (rate_of(58, 60), 0.883, Verdict.COMPATIBLE),  # 53 of 60: the difference of 5 runs is no surprise
        (rate_of(3, 60), 0.417, Verdict.DIFFERS),
        (rate_of(2, 2), 1.0, Verdict.UNDECIDED),  # 34-100 %
        (Estimate(float("nan"), float("nan"), float("nan"), 0), 1.0, Verdict.UNDECIDED),
    ],
)
def test_a_printed_rate_agrees_inside_our_interval_and_is_compatible_within_both_errors(
    ours, theirs, verdict
):
    assert judge_rate(ours, printed(theirs)).verdict is verdict


def test_the_sentence_names_the_printed_number_and_our_interval():
    assert str(judge_rate(rate_of(60, 60), printed(1.0))) == (
        "agrees: printed 100 % lies inside our interval 94-100 %"
    )
    assert str(judge_rate(rate_of(3, 60), printed(0.417))) == (
        "differs: printed 41.7 % lies outside our interval 1.7-13.7 %; ours is 37 points below"
    )


@pytest.mark.parametrize(
    ("mean", "verdict", "text"),
    [
        (Estimate(4.2, 3.6, 4.8, 60), Verdict.AGREES, "printed 4.00 lies inside our interval 3.60-4.80"),
        (Estimate(6.0, 5.5, 6.5, 60), Verdict.DIFFERS, "ours needs 2.0 more"),
        (Estimate(3.0, 2.5, 3.5, 60), Verdict.DIFFERS, "ours needs 1.0 fewer"),
        (Estimate(4.0, 1.0, 12.0, 3), Verdict.UNDECIDED, "from 3 successful run"),
        (Estimate(4.0, float("nan"), float("nan"), 1), Verdict.UNDECIDED, "1 successful run"),
    ],
)
def test_mean_iterations_are_judged_by_our_interval_alone(mean, verdict, text):
    found = judge_iterations(mean, printed(1.0))

    assert found.verdict is verdict
    assert text in found.reason


def test_without_a_printed_number_there_is_a_figure_only():
    assert judge_rate(rate_of(1, 2), None) is judge_iterations(rate_of(1, 2), None) is NOT_PRINTED


def verdicts(experiment, table):
    runs = runs_of(table, 1e-6)
    return {each.key: check(each, runs).verdict for each in sentences(experiment)}


def test_sentences_on_the_benchmarks():
    """SPDE always, Euclidean never: it outperforms; both rules are alike, so neither does."""
    problems = ("ackley", "rastrigin", "levy")
    table = table_of(*(both_kernels(TENS, NONE, problem=name) for name in problems))

    assert verdicts("benchmarks", table) == {
        "spde-outperforms": Verdict.AGREES,
        "ucb-outperforms": Verdict.UNDECIDED,
        "rastrigin-easier": Verdict.UNDECIDED,
    }
    assert (
        verdicts("benchmarks", table_of(*(both_kernels(NONE, TENS, problem=name) for name in problems)))[
            "spde-outperforms"
        ]
        is Verdict.DIFFERS
    )


def test_sentences_on_the_inversion_hold_for_25_iterations_and_not_for_2():
    def table(good):
        return table_of(*(both_kernels(good, NONE, source=name, horizon=40) for name in ("3", "4", "5")))

    assert set(verdicts("inversion", table([24, 25, 26] * 10)).values()) == {Verdict.AGREES}
    assert verdicts("inversion", table([1, 2, 3] * 10))["spde-iterations"] is Verdict.DIFFERS
    assert verdicts("inversion", table([2, None] * 15))["spde-reliable"] is Verdict.DIFFERS


def test_sentences_on_b():
    still = table_of(*(both_kernels(TENS, NONE, b=b) for b in (0.0, 0.5)))
    falling = table_of(
        both_kernels(TENS, NONE, b=0.0),
        cell_rows(TENS, acquisition="IGP-UCB", b=0.5),
        cell_rows(TENS[:30] + NONE[:30], acquisition="GP-TS", b=0.5),
    )

    assert verdicts("sensitivity-b", still) == {
        "ucb-insensitive": Verdict.AGREES,
        "ts-more-sensitive": Verdict.UNDECIDED,
        "spde-higher-for-all-b": Verdict.AGREES,
    }
    assert verdicts("sensitivity-b", falling)["ts-more-sensitive"] is Verdict.AGREES


def test_that_nothing_changed_in_two_runs_proves_nothing():
    table = table_of(*(both_kernels([1, 2], [None, None], b=b) for b in (0.0, 0.5)))

    assert verdicts("sensitivity-b", table)["ucb-insensitive"] is Verdict.UNDECIDED


def test_sentences_on_the_initial_design():
    improving = table_of(
        both_kernels(NONE, NONE, n_init=1),
        both_kernels(TENS, NONE, n_init=8),
        both_kernels(TENS, NONE, n_init=16),
    )
    level = table_of(*(both_kernels(TENS, NONE, n_init=n) for n in (1, 8, 16)))
    late = table_of(both_kernels(NONE, NONE, n_init=8), both_kernels(TENS, NONE, n_init=16, n_nodes=900))

    assert set(verdicts("sensitivity-init", improving).values()) == {Verdict.AGREES}
    assert verdicts("sensitivity-init", level)["more-init-helps"] is Verdict.UNDECIDED
    assert verdicts("sensitivity-init", late)["eight-is-stable"] is Verdict.DIFFERS


def test_a_mesh_of_another_size_differs():
    assert verdicts("sensitivity-init", both_kernels(n_nodes=900))["mesh-sizes"] is Verdict.DIFFERS


@pytest.mark.parametrize("experiment", ["benchmarks", "inversion", "sensitivity-b", "sensitivity-init"])
def test_without_the_runs_it_speaks_of_a_sentence_is_undecided(experiment):
    table = cell_rows([1, None], kernel="none", acquisition="random", b=float("nan"), max_cell=1.0)

    assert set(verdicts(experiment, table).values()) == {Verdict.UNDECIDED}


def beyond_table():
    ours = {"method": "calibrated", "preset": "calibrated", "b": float("nan")}
    return table_of(
        *(
            cells
            for place in ("gap-end", "interior")
            for cells in (
                cell_rows([4, None] * 5, acquisition="GP-TS", placement=place),
                cell_rows([2, 3] * 5, acquisition="GP-TS", placement=place, **ours),
            )
        ),
        cell_rows([1] * 10, acquisition="data-blind", b=float("nan")),
    )


def test_effects_are_mean_differences_of_pairs():
    """5 of 10 pairs are won by the reach rate; queries: 2 against 4 and 3 against the horizon of 10."""
    spec = Spec("beyond", horizon_ucb=10, horizon_ts=10, tolerance=1e-6)
    table = beyond_table()
    (reference,) = references_of(table)
    found = {(each.landscapes, each.metric): each for each in paired_effects(spec, table, reference)}
    rate, _, queries = metric_names(spec)

    assert reference == "SPDE, GP-TS"
    assert {name for name, _ in found} == {"all landscapes", "optimum: gap-end", "optimum: interior"}
    assert found["all landscapes", rate].difference.value == pytest.approx(0.5)
    assert found["all landscapes", rate].pairs == 20
    assert found["optimum: interior", queries].difference.value == pytest.approx((-2 - 7) / 2)
    assert all(each.difference.holds(each.difference.value) for each in found.values())
