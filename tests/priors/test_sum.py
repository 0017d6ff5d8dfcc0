import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo.errors import ParameterError
from netbo.priors import SumPrior, sum_of
from support.reference import case, contract_graph, contract_points


def parts():
    """sigma 1.3 and 0.8, ranges 2 and 1.7."""
    return case("hats 1").prior, case("euclidean 0.5").prior


def test_variances_add_and_the_first_range_is_the_range():
    prior = sum_of(*parts())

    assert prior.sigma == pytest.approx(np.sqrt(1.3**2 + 0.8**2), rel=1e-14)
    assert prior.range == pytest.approx(2.0, rel=1e-14)
    assert_allclose(prior.shares, np.array([1.3**2, 0.8**2]) / (1.3**2 + 0.8**2), rtol=1e-13)


def test_another_range_keeps_the_ratio_of_ranges_and_the_shares():
    prior = sum_of(*parts())
    longer = prior.rescaled(range=5.0)

    assert [part.range for part in longer.parts] == pytest.approx([5.0, 5.0 * 1.7 / 2.0], rel=1e-13)
    assert [part.sigma for part in longer.parts] == pytest.approx([1.3, 0.8], rel=1e-13)


def test_another_sigma_keeps_the_ranges_and_the_shares():
    prior = sum_of(*parts())
    louder = prior.rescaled(sigma=3.0)

    assert louder.sigma == pytest.approx(3.0, rel=1e-14)
    assert [part.range for part in louder.parts] == pytest.approx([2.0, 1.7], rel=1e-13)
    assert_allclose(louder.shares, prior.shares, rtol=1e-13)


def test_shares_divide_the_variance_which_stays():
    given, prior = sum_of(*parts()), sum_of(*parts(), shares=(0.2, 0.8))
    x, part = contract_points(), parts()[0]
    expected = 0.2 * given.sigma**2 * part.covariance(x, x) / part.sigma**2

    assert prior.sigma == pytest.approx(given.sigma, rel=1e-14)
    assert_allclose(prior.shares, [0.2, 0.8], rtol=1e-13)
    assert_allclose(prior.parts[0].covariance(x, x), expected, rtol=1e-12)


def test_a_sum_of_sums_is_the_sum():
    a, b = parts()
    c, x = case("spectral 0.75").prior, contract_points()
    nested, flat = sum_of(sum_of(a, b), c), sum_of(a, b, c)

    assert nested.sigma == pytest.approx(flat.sigma, rel=1e-14)
    assert_allclose(nested.covariance(x, x), flat.covariance(x, x), rtol=1e-13)
    assert_allclose(
        nested.rescaled(range=1.0, sigma=2.0).covariance(x, x),
        flat.rescaled(range=1.0, sigma=2.0).covariance(x, x),
        rtol=1e-12,
    )


def test_a_part_alone_is_itself():
    part, x = parts()[0], contract_points()

    assert_array_equal(sum_of(part).covariance(x, x), part.covariance(x, x))


def test_another_sigma_factors_nothing_anew():
    """Finite elements keep what depends on the range alone."""
    prior = sum_of(*parts())
    prior.variance(contract_points())

    assert prior.rescaled(sigma=7.0).parts[0].unit.factor is prior.parts[0].unit.factor


def test_parts_may_hold_equal_graphs():
    """A point of one is a point of the other."""
    other = netbo.MetricGraph(
        contract_graph().tails,
        contract_graph().heads,
        contract_graph().lengths,
        positions=contract_graph().positions,
    )
    straight, x = netbo.euclidean_matern(other, nu=1.5, range=1.0), contract_points()
    network = parts()[0]

    assert_allclose(
        sum_of(network, straight).variance(x), network.variance(x) + straight.variance(x), rtol=1e-14
    )


def test_parts_live_on_one_network():
    elsewhere = netbo.euclidean_matern(netbo.interval(2.0), nu=0.5, range=1.0)

    with pytest.raises(ParameterError, match=r"graphs with the same edges, got .* and .*; make all"):
        sum_of(parts()[0], elsewhere)


@pytest.mark.parametrize("thing", [None, contract_graph(), [1.0]])
def test_parts_are_priors(thing):
    with pytest.raises(ParameterError, match=r"parts of a sum must be priors .*, got .*; take those of"):
        sum_of(parts()[0], thing)
    with pytest.raises(ParameterError, match=r"parts of a sum must be priors .*, got .*; take those of"):
        sum_of(thing, parts()[0])


def test_a_sum_of_nothing_is_refused():
    with pytest.raises(ParameterError, match=r"a sum needs at least one prior, got none; pass"):
        SumPrior(())


def test_there_is_a_share_for_every_part():
    with pytest.raises(ParameterError, match=r"a sum of 2 priors needs as many shares, got 3"):
        sum_of(*parts(), shares=(0.2, 0.3, 0.5))


@pytest.mark.parametrize("shares", [(0.0, 1.0), (-0.5, 1.5), (0.5, 0.6), (np.nan, 0.5), (np.inf, 1.0)])
def test_shares_are_positive_and_sum_to_one(shares):
    with pytest.raises(ParameterError, match=r"shares must be positive and sum to 1, got .*; divide them"):
        sum_of(*parts(), shares=shares)
