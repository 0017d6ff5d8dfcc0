"""What a history keeps up to date, against its trials looked through one by one."""

import math

from numpy.testing import assert_array_equal

from netbo.optimize import History, Status


def assert_views_hold(history: History) -> None:
    """Trials by status, the order of telling, counts and arrays."""
    trials = list(history)
    for status in Status:
        group = [trial for trial in trials if trial.status is status]
        assert history.having(status) == group
        assert history.count(status) == len(group)
    told = sorted(history.having(Status.OBSERVED), key=lambda trial: trial.order or 0)
    assert history.observed == told
    assert history.n_asked == sum(trial.asked is not None for trial in trials)
    measured = history.measured
    assert_array_equal(measured.edge, [trial.point.edge for trial in told])
    assert_array_equal(measured.z, [trial.point.z for trial in told])
    assert_array_equal(measured.value, [trial.value for trial in told])
    assert_array_equal(measured.noise, [math.nan if trial.noise is None else trial.noise for trial in told])
