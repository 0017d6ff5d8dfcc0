import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import ESTIMATED, Matern, Observations, Optimizer, condition
from netbo.optimize import Check, Given, Known, Learned
from support.reference import Regression, contract_space, element_kernel

SPACE, NODES = contract_space(), contract_space().nodes
MATERN = Matern(1.0, range=2.0, sigma=1.3)
PRIOR = netbo.whittle_matern(SPACE, MATERN)


def known(mean=ESTIMATED, noise=0.04):
    return Optimizer(SPACE, fit=Known(Given(PRIOR), mean=mean), noise=noise)


def told(optimizer, n=10, seed=0):
    """Values at random nodes, some of them repeated, in mixed order with failures between them."""
    rng = np.random.default_rng(seed)
    for index in rng.integers(len(NODES), size=n):
        optimizer.tell(NODES[index], rng.standard_normal())
        optimizer.tell(NODES[index], "failed")
    return optimizer


@pytest.mark.parametrize("mean", [0.3, ESTIMATED])
def test_leaving_one_out_equals_conditioning_on_the_others(mean):
    """Dense regression, once for every value; the noise of the measurement is part of the spread."""
    optimizer = told(known(mean))
    data, found = optimizer.observations, optimizer.check()
    constant = None if mean is ESTIMATED else mean

    for i in range(len(data)):
        others = np.delete(np.arange(len(data)), i)
        slow = Regression(
            element_kernel(SPACE, MATERN),
            data.points[others],
            data.values[others],
            np.full(9, 0.04),
            constant,
        )
        place = data.points[i : i + 1]
        assert found.predicted[i] == pytest.approx(slow.mean(place)[0], rel=1e-7, abs=1e-7)
        assert found.std[i] ** 2 == pytest.approx(slow.std(place)[0] ** 2 + 0.04, rel=1e-7)
    assert_array_equal(found.value, data.values)
    assert_array_equal(found.residual, found.value - found.predicted)
    assert_array_equal(found.id, [trial.id for trial in optimizer.history.observed])


def test_learned_parameters_are_those_of_all_values():
    optimizer = told(Optimizer(SPACE, noise=0.04, fit=Learned()))
    data, fit = optimizer.observations, optimizer.outcome.fits[0]
    others = np.arange(1, len(data))
    without = condition(
        fit.prior, Observations(data.points[others], data.values[others]), regularization=0.04, mean=ESTIMATED
    )

    assert optimizer.check().predicted[0] == pytest.approx(without.mean(data.points[:1])[0])


def test_minimizing_checks_values_in_their_own_direction():
    up, down = told(known()), told(Optimizer(SPACE, fit=known().fit, noise=0.04, direction="minimize"))

    assert_array_equal(up.check().predicted, down.check().predicted)


def test_a_right_model_covers_as_often_as_it_says():
    """Of each of 25 values in 60 simulations; within four standard errors, taken between simulations."""
    shares = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = NODES[rng.integers(len(NODES), size=25)]
        values = 5.0 + PRIOR.sample(x, rng) + 0.2 * rng.standard_normal(25)
        optimizer = known()
        optimizer.tell(x, values)
        shares.append(list(optimizer.check().coverage.values()))
    mean, error = np.mean(shares, axis=0), np.std(shares, axis=0) / np.sqrt(60)

    assert np.all(np.abs(mean - [0.5, 0.8, 0.95]) <= 4 * error)
    assert np.all(error < 0.02)


def test_standardized_residuals_of_a_wild_value_are_large():
    optimizer = told(known(), n=15)
    place = optimizer.history[4].point
    wild = optimizer.tell(place, 30.0)[0]
    found = optimizer.check()

    assert wild in found.id[found.is_wild]
    assert f"{wild}" in str(found).split("wild: ")[1].split(", ")
    assert found.table().loc[wild, "wild"]
    assert found.table().index.name == "id"


def test_a_value_alone_predicts_nothing_and_is_not_wild():
    optimizer = known()
    optimizer.tell(NODES[3], 1e6)
    found = optimizer.check()

    assert np.isinf(found.std).all()
    assert_array_equal(found.standardized, [0.0])
    assert not found.is_wild.any()
    assert "wild" not in str(found)


def test_the_limit_of_wildness_grows_with_the_number_of_values():
    """P(any of n standard normal values beyond it) <= 1 %: 2.58 for one, 3.89 for a hundred."""

    def wild(size, n):
        value = np.r_[size, np.zeros(n - 1)]
        return Check(np.arange(n), value, np.zeros(n), np.ones(n)).is_wild[0]

    assert (wild(2.57, 1), wild(2.58, 1)) == (False, True)
    assert (wild(3.89, 100), wild(3.90, 100)) == (False, True)


def test_coverage_counts_values_in_central_intervals():
    """Quantiles 0.674, 1.282 and 1.960 of the standard normal."""
    value = np.array([0.0, 0.67, -0.68, 1.28, -1.29, 1.95, -1.97, 5.0])
    found = Check(np.arange(8), value, np.zeros(8), np.ones(8))

    assert_allclose(list(found.coverage.values()), [2 / 8, 4 / 8, 6 / 8])
