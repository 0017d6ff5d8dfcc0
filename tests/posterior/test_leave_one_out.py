import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import ESTIMATED, Matern, Observations, Points, condition
from netbo.errors import AccuracyWarning
from support.reference import (
    case,
    contract_points,
    contract_space,
    exact_covariance,
    exact_matrices,
    hat_values,
)

NEARLY_NONE = 1e-10  # noise variance, of the squared amplitude


def exact_leave_one_out(space, matern, data, noise, *, estimated):
    """Mean and variance of every measurement from T of all others, in 60 digits; bordered if estimated."""
    with mp.workdps(60):
        C, G = exact_matrices(space, lumped=False)
        field = (
            exact_covariance(C, G, mp.mpf(matern.kappa), round(2 * matern.alpha)) / mp.mpf(matern.tau) ** 2
        )
        E = mp.matrix(hat_values(space, data.points).tolist())
        T = E * field * E.T + mp.diag([mp.mpf(v) for v in noise])
        answers = [_exact_one(T, data.values.tolist(), i, estimated) for i in range(len(data))]
    return np.array(answers, dtype=float).T


def _exact_one(T, y, i, estimated):
    rest = [j for j in range(len(y)) if j != i]
    border = mp.zeros(len(rest) + estimated)
    for a, j in enumerate(rest):
        for b, k in enumerate(rest):
            border[a, b] = T[j, k]
        if estimated:
            border[a, len(rest)] = border[len(rest), a] = 1
    ends = [1] * estimated
    cross = mp.matrix([T[i, j] for j in rest] + ends)
    weights = mp.lu_solve(border, cross)
    mean = sum(weights[a] * y[j] for a, j in enumerate(rest))
    return mean, T[i, i] - (weights.T * cross)[0]


def nearly_exact_data(*, inside: bool) -> Observations:
    """Nodes, a vertex, one place twice; or inside cells, two of them in one cell."""
    space = contract_space()
    nodes = space.nodes[[0, 2, 9, 17, 25, 9, 30]]
    cells = space.graph.points([0, 2, 2, 3, 5, 0], fraction=[0.37, 0.71, 0.73, 0.48, 0.18, 0.37])
    points = cells if inside else nodes
    return Observations(points, np.random.default_rng(3).standard_normal(len(points)) + 5.0)


@pytest.mark.parametrize("mean", [0.0, ESTIMATED])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize(("inside", "rtol"), [(False, 1e-9), (True, 1e-4)], ids=["at nodes", "inside cells"])
def test_it_keeps_its_digits_almost_without_noise(p, inside, rtol, mean):
    """1 - v / lambda cancels to rounding at lambda = 1e-10 sigma^2; inside cells eps / lambda remains."""
    space, matern, data = (
        contract_space(),
        Matern(alpha=p / 2, range=2.0, sigma=1.0),
        nearly_exact_data(inside=inside),
    )
    posterior = condition(netbo.whittle_matern(space, matern), data, regularization=NEARLY_NONE, mean=mean)
    found = posterior.leave_one_out()
    expected = exact_leave_one_out(
        space, matern, data, np.full(len(data), NEARLY_NONE), estimated=mean is ESTIMATED
    )

    assert_allclose(found.mean, expected[0], rtol=rtol, atol=rtol)
    assert_allclose(found.variance, expected[1], rtol=rtol)


@pytest.mark.parametrize("name", ["hats 1", "constant 1"])
def test_after_extending_it_is_that_of_all_data(name):
    """Variances updated by rank one have lost what is needed here."""
    prior, data = case(name).prior, nearly_exact_data(inside=False)
    whole = condition(prior, data, regularization=NEARLY_NONE, mean=ESTIMATED)
    start = Observations(data.points[:3], data.values[:3])
    rest = Observations(data.points[3:], data.values[3:])
    extended = condition(prior, start, regularization=NEARLY_NONE, mean=ESTIMATED).extend(rest)
    extended.std(contract_points())

    assert_allclose(extended.leave_one_out().mean, whole.leave_one_out().mean, rtol=1e-9)
    assert_allclose(extended.leave_one_out().variance, whole.leave_one_out().variance, rtol=1e-9)


@pytest.mark.parametrize("own", [1e-20, 1e-10, 1.0])
def test_a_repeat_is_predicted_by_its_twin(own):
    """Of two values at one place each knows the field to 1 / (1 / k(x, x) + 1 / lambda), however exact."""
    prior, x = case("hats 1").prior, contract_points()[[5, 5]]
    data = Observations(x, [3.0, 2.0], [own, 0.5])
    found = condition(prior, data, mean=0.0).leave_one_out()
    field, of_other = prior.variance(x), np.array([0.5, own])

    assert_allclose(found.variance, 1 / (1 / field + 1 / of_other) + data.noise, rtol=1e-12)
    assert_allclose(found.mean, [2.0, 3.0] * field / (field + of_other), rtol=1e-12)


@pytest.mark.parametrize("name", ["hats 1", "euclidean 0.5"])
@pytest.mark.parametrize("noise", [1e-10, 0.1])
@pytest.mark.parametrize("place", [0, 5], ids=["inside a cell", "at a node"])
def test_one_measurement_alone_has_no_estimate_of_the_mean(name, noise, place):
    data = Observations(contract_points()[[place]], [4.0])
    open_mean = condition(case(name).prior, data, regularization=noise, mean=ESTIMATED).leave_one_out()
    given_mean = condition(case(name).prior, data, regularization=noise, mean=1.5).leave_one_out()
    before = case(name).prior.variance(data.points) + noise

    assert np.isinf(open_mean.variance).all()
    assert np.isnan(open_mean.mean).all()
    assert_allclose(given_mean.mean, 1.5, rtol=1e-5)  # 1e-16 sigma^2 / lambda inside a cell
    assert_allclose(given_mean.variance, before, rtol=1e-12)


@pytest.mark.parametrize("name", ["hats 1", "euclidean 0.5"])
def test_others_drowned_in_noise_say_nothing_of_the_mean(name):
    data = Observations(contract_points()[[4, 5]], [4.0, 1.0], [0.1, 1e30])
    found = condition(case(name).prior, data, mean=ESTIMATED).leave_one_out()

    assert np.isinf(found.variance[0])
    assert np.isnan(found.mean[0])
    assert found.variance[1] == pytest.approx(1e30)


@pytest.mark.parametrize("name", ["hats 1", "euclidean 0.5"])
def test_without_data_nothing_is_left_out(name):
    none = Observations(Points(np.empty(0, dtype=int), []), [])
    found = condition(case(name).prior, none, regularization=0.1).leave_one_out()

    assert found.mean.shape == found.variance.shape == (0,)


def test_predictions_without_the_only_value_that_tells_the_mean_are_said_to_be_poor():
    """Beside noise of 1e9 sigma^2 the mean is all but the first value's own."""
    graph = netbo.interval(3.0)
    prior = netbo.whittle_matern(graph, netbo.Matern(1.0, range=1.0))
    x, values = graph.points(0, [0.5, 2.0, 2.7]), [1.0, 3.0, 2.0]
    with pytest.warns(AccuracyWarning, match=r"1 value of which all but one part in 1e\+08 is their own"):
        netbo.condition(prior, Observations(x, values, [0.1, 1e9, 1e9]), mean=ESTIMATED).leave_one_out()

    found = netbo.condition(prior, Observations(x, values, [0.1, 1e6, 1e6]), mean=ESTIMATED).leave_one_out()
    assert np.isfinite(found.variance).all()
