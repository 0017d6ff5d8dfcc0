import math
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

from netbo import MetricGraph, Optimizer, interval, open_rectangle, star
from netbo.errors import ObservationError, ParameterError
from netbo.optimize.design import Maximin
from netbo.optimize.evaluation import process_pool
from netbo.optimize.loop import maximize, minimize, run
from netbo.optimize.stopping import Budget, Target
from netbo.optimize.trials import Status
from support.objectives import dies, fails_near_the_tail, negated_wave, sometimes_unreadable, wave

SMALL = {"max_cell": 0.1, "design": Maximin(4)}  # about 60 nodes on a star of three arms of length two
PATIENCE = 60  # seconds until a thread that waits in vain gives up


def arms():
    return star(3, length=2.0)


def places(result):
    return [(trial.point.edge, trial.point.z) for trial in result.optimizer.history]


def statuses(result):
    return [trial.status for trial in result.optimizer.history]


# One after another


def test_the_largest_value_is_found():
    result = maximize(wave, arms(), budget=12, noise=0.0, **SMALL)

    assert result.best().value == pytest.approx(1.0, abs=0.01)
    assert result.best().point.distance == pytest.approx(1.0, abs=0.15)
    assert result.stopped == "the budget of 12 evaluations is spent"


def test_the_same_seed_gives_the_same_table_and_another_seed_another():
    first, again, other = (maximize(wave, arms(), budget=8, seed=seed, **SMALL) for seed in (3, 3, 4))

    assert_frame_equal(first.history, again.history)
    assert places(other) != places(first)


@pytest.mark.parametrize("settings", [{}, {"noise": 0.0}, {"acquisition": "ucb"}, {"preset": "paper"}])
def test_to_minimize_is_to_maximize_the_negative(settings):
    low = minimize(wave, open_rectangle(), budget=12, max_cell=2.0, seed=5, **settings)
    high = maximize(negated_wave, open_rectangle(), budget=12, max_cell=2.0, seed=5, **settings)

    assert places(low) == places(high)
    np.testing.assert_array_equal(low.history["best"], -high.history["best"])


def test_the_objective_sees_the_users_own_address():
    graph = MetricGraph([0], [1], [4.0], edge_ids=["main"], positions=[[0.0, 0.0], [4.0, 0.0]])
    seen = []
    maximize(lambda x: seen.append(x) or 0.0, graph, budget=3, max_cell=0.1)

    assert len(seen) == 3
    assert all(x.edge_id == "main" and x.fraction == x.distance / 4 for x in seen)
    assert all(x.xy == pytest.approx((x.distance, 0.0)) for x in seen)


def test_a_pair_tells_the_noise_of_its_value():
    result = maximize(lambda x: (wave(x), 0.25), arms(), budget=5, **SMALL)

    assert result.history["noise"].tolist() == [0.25] * 5


def test_settings_reach_the_optimizer():
    result = maximize(wave, arms(), budget=2, noise=0.5, repeats=False, separation=0.3, seed=9, **SMALL)
    optimizer = result.optimizer

    assert (optimizer.noise, optimizer.repeats, optimizer.seed) == (0.5, False, 9)
    assert (optimizer.design, optimizer.direction) == (Maximin(4), "maximize")


def test_a_run_in_two_parts_is_the_run_in_one():
    whole = maximize(wave, arms(), budget=9, seed=2, **SMALL)
    optimizer = Optimizer(arms(), seed=2, **SMALL)
    run(wave, optimizer, budget=5)
    result = run(wave, optimizer, budget=9)

    assert_frame_equal(result.history, whole.history)
    assert run(wave, optimizer, budget=9).stopped == "the budget of 9 evaluations is spent"
    assert len(optimizer.history) == 9


# Failures


def test_failures_count_and_keep_their_traceback():
    result = maximize(fails_near_the_tail, arms(), budget=15, **SMALL)
    table = result.history
    failed = table[table["status"] == "failed"]

    assert len(table) == 15
    assert 0 < len(failed) < 15
    assert (failed["distance"] < 0.5).all()
    assert all("in fails_near_the_tail" in note and "no signal at" in note for note in failed["note"])
    assert (table.loc[table["status"] == "observed", "note"] == "").all()


def test_nan_is_a_failure_and_says_so():
    result = maximize(lambda x: math.nan if x.distance > 1 else wave(x), arms(), budget=10, **SMALL)
    failed = result.history[result.history["status"] == "failed"]

    assert (failed["distance"] > 1).all()
    assert set(failed["note"]) == {"returned NaN"}


@pytest.mark.parametrize("size", [4, 7])
def test_a_run_that_only_fails_is_given_up_early(size):
    """After five evaluations, or after the design if that is larger."""
    with pytest.raises(ObservationError, match=r"ZeroDivisionError: .*; call the objective") as caught:
        maximize(lambda x: 1 / 0, arms(), budget=100, max_cell=0.1, design=Maximin(size))

    assert statuses(caught.value.result) == [Status.FAILED] * max(5, size)


def test_one_value_keeps_a_run_going():
    calls = iter(range(100))
    result = maximize(lambda x: 1.0 if next(calls) == 4 else math.nan, arms(), budget=20, **SMALL)

    assert statuses(result).count(Status.FAILED) == 19


@pytest.mark.parametrize(("returned", "name"), [(None, "NoneType"), ("low", "str"), ([1, 2, 3], "list")])
def test_a_wrong_return_is_an_error_and_not_a_failure(returned, name):
    with pytest.raises(ObservationError, match=f"must return a number.*{name}") as caught:
        maximize(lambda x: returned, arms(), budget=5, **SMALL)

    assert statuses(caught.value.result) == [Status.CANCELLED]


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
def test_an_answer_that_raises_is_a_failed_trial_with_its_reason(executor):
    """Numbers beyond every float, and objects that cannot be read, printed or sent to another process."""
    pools = {"threads": lambda: ThreadPoolExecutor(1), "processes": lambda: process_pool(1)}
    with pools[executor]() if executor else nullcontext() as pool:
        result = maximize(sometimes_unreadable, arms(), budget=6, executor=pool, **SMALL)
    notes = [trial.note for trial in result.optimizer.history if trial.status is Status.FAILED]

    assert notes
    assert statuses(result).count(Status.OBSERVED) == 6 - len(notes) > 0
    assert all("could not be read as one" in note for note in notes)


def test_infinity_is_refused():
    with pytest.raises(ObservationError, match="must be finite, got inf"):
        maximize(lambda x: math.inf, arms(), budget=5, **SMALL)


def broken_at(n, error):
    calls = iter(range(1000))

    def objective(point):
        if next(calls) == n:
            raise error
        return wave(point)

    return objective


@pytest.mark.parametrize("catch", [(OSError, KeyError), OSError, ()])
def test_an_exception_not_expected_carries_the_result(catch):
    error = RuntimeError("out of fuel")
    with pytest.raises(RuntimeError, match="out of fuel") as caught:
        maximize(broken_at(3, error), arms(), budget=10, catch=catch, **SMALL)

    assert caught.value is error
    assert statuses(error.result) == [Status.OBSERVED] * 3 + [Status.CANCELLED]
    assert error.result.stopped == "RuntimeError: out of fuel"
    assert "attribute 'result'" in error.__notes__[-1]


def test_an_interrupt_returns_what_was_found():
    result = maximize(broken_at(6, KeyboardInterrupt()), arms(), budget=10, **SMALL)

    assert result.stopped == "interrupted"
    assert statuses(result) == [Status.OBSERVED] * 6 + [Status.CANCELLED]


def test_suggestions_pending_before_stay_pending():
    optimizer = Optimizer(arms(), **SMALL)
    mine = optimizer.ask()
    run(broken_at(2, KeyboardInterrupt()), optimizer, budget=5)

    assert [trial.id for trial in optimizer.history.pending] == [mine.id]


# Callbacks and rules


def test_callbacks_follow_each_value_in_order():
    calls = []
    maximize(
        fails_near_the_tail,
        arms(),
        budget=6,
        callbacks=(
            lambda optimizer, trial: calls.append(("first", trial.id, len(optimizer.history), trial.status)),
            lambda optimizer, trial: calls.append(("second", trial.id, len(optimizer.history), trial.status)),
        ),
        **SMALL,
    )

    assert [call[:3] for call in calls] == [(who, i, i + 1) for i in range(6) for who in ("first", "second")]
    assert Status.PENDING not in {call[3] for call in calls}


def test_an_error_in_a_callback_loses_nothing():
    def full(optimizer, trial):
        if trial.id == 2:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full") as caught:
        maximize(wave, arms(), budget=6, callbacks=full, **SMALL)

    assert statuses(caught.value.result) == [Status.OBSERVED] * 3


def test_the_first_reason_ends_a_run():
    def third(optimizer):
        return "three are enough" if len(optimizer.history) == 3 else None

    result = maximize(wave, arms(), budget=30, stop=(Target(9.0), third, Budget(3)), **SMALL)

    assert result.stopped == "three are enough"
    assert len(result.history) == 3


def test_a_target_ends_a_run_with_the_value_that_reached_it():
    result = maximize(wave, arms(), budget=30, stop=Target(0.9), noise=0.0, **SMALL)
    is_beyond = result.history["value"] >= 0.9

    assert result.stopped == "the target 0.9 is reached"
    assert is_beyond.tolist() == [False] * (len(is_beyond) - 1) + [True]


def test_rules_are_not_asked_before_there_is_a_value():
    calls = iter(range(100))
    result = maximize(
        lambda x: math.nan if next(calls) < 3 else wave(x),
        arms(),
        budget=9,
        stop=lambda optimizer: f"best {optimizer.best().id}",
        **SMALL,
    )

    assert result.stopped == "best 3"


def test_a_target_reached_before_needs_no_evaluation():
    optimizer = Optimizer(arms(), **SMALL)
    optimizer.tell(arms().points(0, [1.0]), [5.0])

    assert run(wave, optimizer, budget=9, stop=Target(4.0)).stopped == "the target 4 is reached"
    assert len(optimizer.history) == 1


@pytest.mark.parametrize("workers", [1, 3])
def test_a_run_ends_when_every_candidate_was_measured(workers):
    graph = interval(4.0)
    candidates = graph.points(0, [0.0, 1.0, 2.0, 3.0, 4.0])
    with ThreadPoolExecutor(workers) as threads:
        result = maximize(wave, graph, budget=20, candidates=candidates, noise=0.0, executor=threads, **SMALL)

    assert result.stopped == "every candidate was measured"
    assert sorted(result.history["distance"]) == [0.0, 1.0, 2.0, 3.0, 4.0]


# Several at once


def test_a_free_worker_is_not_kept_waiting():
    """The first evaluation ends after five others began: filled in rounds, workers would wait in vain."""
    count, enough = iter(range(100)), threading.Event()
    lock = threading.Lock()

    def objective(point):
        with lock:
            number = next(count)
        if number == 5:
            enough.set()
        if number == 0:
            assert enough.wait(PATIENCE)
        return wave(point)

    with ThreadPoolExecutor(2) as threads:
        result = maximize(objective, arms(), budget=8, executor=threads, catch=(), **SMALL)

    assert result.history["order"].iloc[0] >= 4
    assert statuses(result) == [Status.OBSERVED] * 8


def test_no_more_are_in_flight_than_workers_and_no_more_are_made_than_the_budget():
    flying, most, lock = 0, 0, threading.Lock()

    def objective(point):
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        threading.Event().wait(0.01)
        with lock:
            flying -= 1
        return wave(point)

    with ThreadPoolExecutor(8) as threads:
        result = maximize(objective, arms(), budget=50, stop=Budget(11), executor=threads, workers=3, **SMALL)

    assert most <= 3
    assert statuses(result) == [Status.OBSERVED] * 11
    assert result.stopped == "the budget of 11 evaluations is spent"


class Slow(Executor):
    """The first call is done at once, the second begins at once, the others wait in a queue."""

    def __init__(self):
        self.futures = []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        if len(self.futures) < 2:
            future.set_running_or_notify_cancel()
        if not self.futures:
            future.set_result(fn(*args, **kwargs))
        self.futures.append(future)
        return future


def test_what_is_under_way_when_a_rule_fires_is_awaited_and_what_is_queued_is_called_off():
    slow = Slow()

    def rule(optimizer):
        threading.Timer(0.05, slow.futures[1].set_result, [7.0]).start()
        return "enough"

    result = maximize(wave, arms(), budget=9, stop=rule, executor=slow, workers=4, **SMALL)

    assert result.stopped == "enough"
    assert statuses(result) == [Status.OBSERVED] * 2 + [Status.CANCELLED] * 2
    assert result.best().value == 7.0


@pytest.mark.parametrize("error", [RuntimeError("out of fuel"), KeyboardInterrupt()])
def test_values_that_are_there_when_a_run_breaks_are_kept(error):
    """Four are in flight: the first raises, the second and third are done but not yet told, one is not."""

    class Finished(Slow):
        def submit(self, fn, /, *args, **kwargs):
            future = Future()
            if not self.futures:
                future.set_exception(error)
            elif len(self.futures) == 1:
                future.set_result(7.0)
            elif len(self.futures) == 2:
                future.set_result("no number")
            self.futures.append(future)
            return future

    try:
        result = maximize(wave, arms(), budget=9, executor=Finished(), workers=4, **SMALL)
    except RuntimeError as raised:
        result = raised.result

    cancelled = Status.CANCELLED
    assert statuses(result) == [cancelled, Status.OBSERVED, cancelled, cancelled]
    assert result.best().value == 7.0


def test_all_that_has_arrived_is_told_before_the_next_is_asked_for():
    class Both(Slow):
        """Answers in pairs."""

        def submit(self, fn, /, *args, **kwargs):
            future = Future()
            self.futures.append((future, fn(*args, **kwargs)))
            if len(self.futures) == 2:
                for each, value in reversed(self.futures):
                    each.set_result(value)
                self.futures = []
            return future

    asked = []
    maximize(
        wave, arms(), budget=8, executor=Both(), workers=2,
        callbacks=lambda optimizer, trial: asked.append((trial.id, optimizer.history.n_asked)), **SMALL,
    )  # fmt: skip

    assert asked == [(0, 2), (1, 2), (2, 4), (3, 4), (4, 6), (5, 6), (6, 8), (7, 8)]


def test_processes_evaluate_and_send_their_tracebacks_home():
    result = maximize(fails_near_the_tail, arms(), budget=10, executor=2, **SMALL)
    table = result.history
    failed = table["status"] == "failed"

    assert len(table) == 10
    assert 0 < failed.sum() < 10
    assert all("in fails_near_the_tail" in note for note in table.loc[failed, "note"])
    np.testing.assert_array_equal(
        table.loc[~failed, "value"], [math.cos(z - 1) for z in table.loc[~failed, "distance"]]
    )


def test_a_worker_that_dies_is_no_failed_measurement():
    with pytest.raises(BrokenProcessPool) as caught:
        maximize(dies, arms(), budget=10, executor=1, **SMALL)

    assert statuses(caught.value.result) == [Status.CANCELLED]
    assert "a worker ended without an answer" in caught.value.__notes__[0]


# Around it


def test_a_bar_is_shown_on_stderr_when_asked_for(capsys):
    maximize(wave, arms(), budget=5, progress=True, **SMALL)
    shown = capsys.readouterr()

    assert "5/5" in shown.err
    assert "best " in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_otherwise(capsys, progress):
    maximize(wave, arms(), budget=5, progress=progress, **SMALL)

    assert capsys.readouterr() == ("", "")


def test_a_bar_is_shown_by_default_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    maximize(lambda x: math.nan, arms(), budget=2, **SMALL)

    assert "no value yet" in capsys.readouterr().err


def test_a_run_loads_no_picture_table_or_bar():
    code = """
import sys, netbo
from netbo.optimize.loop import maximize
maximize(lambda x: x.distance, netbo.interval(2.0), budget=2, max_cell=0.1)
assert not {"matplotlib", "pandas", "rich"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, stderr=subprocess.PIPE, text=True)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget": 0}, "budget must be a whole number of at least one, got 0"),
        ({"budget": 2.5}, "budget must be a whole number"),
        ({"f": 3.0}, "f must be a function of a point, got 3.0"),
        ({"catch": ("ValueError",)}, "catch must be exception types, got 'ValueError'"),
        ({"stop": 3}, "stop must be functions of an optimizer, got 3"),
        ({"stop": (3,)}, "stop must be functions of an optimizer, got 3"),
        ({"callbacks": ("print",)}, "callbacks must be functions of an optimizer, got 'print'"),
        ({"workers": 2}, "got 2 and no executor"),
        ({"executor": "threads"}, "executor must be a concurrent.futures.Executor"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        maximize(**{"f": wave, "graph": arms(), "budget": 5, **SMALL, **settings})
