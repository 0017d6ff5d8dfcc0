import numpy as np
import pytest
from numpy.testing import assert_array_equal

import netbo
from netbo import ESTIMATED, Observations, condition
from netbo.priors import EuclideanPrior
from support.reference import contract_graph, contract_points, contract_space


@pytest.fixture
def asked(monkeypatch):
    """Shapes of the covariances the prior was asked for."""
    shapes, covariance = [], EuclideanPrior.covariance

    def recorded(self, x, y):
        shapes.append((len(x), len(y)))
        return covariance(self, x, y)

    monkeypatch.setattr(EuclideanPrior, "covariance", recorded)
    return shapes


def posterior(mean=ESTIMATED):
    prior = netbo.euclidean_matern(contract_graph(), nu=1.5, range=1.0)
    return condition(prior, Observations(contract_points(), np.arange(6.0)), regularization=0.1, mean=mean)


@pytest.mark.parametrize("mean", [0.0, ESTIMATED])
def test_questions_at_the_same_points_share_the_cross_covariance(asked, mean):
    x, known = contract_space().nodes, posterior(mean)
    known.mean(x)
    known.std(x)
    known.sample(x, np.random.default_rng(0))

    assert sorted(asked) == sorted([(6, 6), (len(x), 6), (len(x), len(x))])


def test_other_points_get_their_own_answers():
    """Alternating between objects, equal or not, of one length."""
    nodes, known = contract_space().nodes, posterior()
    one, two, twin = nodes[:5], nodes[5:10], nodes[:5]
    first = [f(one) for f in (known.mean, known.std)]

    for x, same in ((two, posterior()), (one, posterior()), (twin, posterior())):
        assert_array_equal(known.mean(x), same.mean(x))
        assert_array_equal(known.std(x), same.std(x))
        assert_array_equal(known.covariance(x, two), same.covariance(x, two))
    assert_array_equal([known.mean(twin), known.std(twin)], first)


def test_new_data_or_parameters_start_without_old_answers():
    x, known = contract_space().nodes, posterior()
    known.std(x)
    extended = known.extend(Observations(x[:1], [9.0]))
    moved = known.with_parameters(known.prior.rescaled(range=3.0), 0.2)
    anew = condition(moved.prior, known.observations, regularization=0.2, mean=ESTIMATED)

    assert np.all(extended.std(x) <= known.std(x) + 1e-12)
    assert extended.mean(x)[0] > known.mean(x)[0]
    assert_array_equal(moved.mean(x), anew.mean(x))
    assert_array_equal(moved.std(x), anew.std(x))
