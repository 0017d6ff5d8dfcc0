import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import Amplitude, FiniteElementSpace, Matern
from netbo.acquisition import GpTs, IgpUcb, PaperWidth
from netbo.errors import ParameterError
from netbo.optimize import (
    CALIBRATED,
    PAPER,
    PAPER_EUCLIDEAN,
    EdgewiseMatern,
    EuclideanMatern,
    Given,
    Maximin,
    Metric,
    NetworkMatern,
    SumOf,
)
from support.reference import (
    contract_graph,
    contract_points,
    contract_space,
    element_kernel,
    straight_line_kernel,
)

DIAMETER = contract_graph().diameter


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("constant", [False, True])
def test_a_network_model_starts_with_tau_one_and_a_quarter_of_the_diameter(alpha, constant):
    prior = NetworkMatern(alpha, constant_variance=constant).build(contract_space())
    kappa = np.sqrt(8 * (2 * alpha - 0.5)) / (DIAMETER / 4)
    kernel = element_kernel(contract_space(), Matern(alpha, kappa=kappa, tau=1.0), constant=constant)
    x = contract_points()

    assert prior.range == pytest.approx(DIAMETER / 4)
    assert_allclose(prior.covariance(x, x), kernel(x, x), rtol=1e-8, atol=1e-12 * kernel(x, x).max())


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_a_straight_line_model_starts_with_sigma_one(nu):
    prior = EuclideanMatern(nu).build(contract_space())
    kernel = straight_line_kernel(contract_graph(), nu, DIAMETER / 4, 1.0)
    x = contract_points()

    assert_allclose(prior.covariance(x, x), kernel(x, x), rtol=1e-8, atol=1e-12)


def test_a_sum_adds_its_parts_each_of_standard_deviation_one():
    space, x = contract_space(), contract_points()
    start = DIAMETER / 4
    reference = netbo.spectral(space, Matern(1.0, range=start, sigma=1.0))
    model = SumOf(NetworkMatern(1.0), EuclideanMatern(1.5))
    straight = straight_line_kernel(contract_graph(), 1.5, start, 1.0)
    prior = model.build(space)

    assert_allclose(
        prior.covariance(x, x), reference.covariance(x, x) + straight(x, x), rtol=1e-8, atol=1e-10
    )


def test_a_sum_needs_two_parts():
    with pytest.raises(ParameterError, match="a sum needs two models or more, got 1; pass it alone"):
        SumOf(NetworkMatern())


class Stiff:
    """A model whose prior knows no derivative of its kernel."""

    label = "stiff"

    def build(self, space):
        return self

    def rescaled(self, *, range, sigma):  # noqa: A002
        return self


def test_parts_of_a_sum_know_the_derivative_of_their_kernel():
    with pytest.raises(
        ParameterError, match=r"parts of a sum must know the derivative .*, got Stiff, Euclid"
    ):
        SumOf(Stiff(), EuclideanMatern()).build(contract_space())


def test_labels_are_for_people():
    given = Given(netbo.euclidean_matern(contract_graph(), nu=0.5, range=1.0), name="mine")

    assert NetworkMatern(0.5).label == "network alpha=0.5"
    assert NetworkMatern(1.0, constant_variance=True).label == "network alpha=1, constant variance"
    assert EuclideanMatern(1.5).label == "straight-line nu=1.5"
    assert EdgewiseMatern().label == "edge by edge"
    assert SumOf(NetworkMatern(), EuclideanMatern()).label == "network alpha=1 + straight-line nu=0.5"
    assert given.label.startswith("mine (")


def test_a_given_prior_is_built_as_it_is():
    space = FiniteElementSpace.build(contract_graph(), max_cell=0.5)
    prior = netbo.whittle_matern(space, Matern(1.0, range=1.0))

    assert Given(prior).build(contract_space()) is prior


def test_the_papers_presets_are_the_papers():
    assert PAPER.acquisition == PAPER_EUCLIDEAN.acquisition == IgpUcb(PaperWidth())
    assert PAPER.fit.models == (NetworkMatern(alpha=1.0),)
    assert PAPER_EUCLIDEAN.fit.models == (EuclideanMatern(nu=0.5),)
    assert PAPER.fit.amplitude is Amplitude.FIXED_TAU
    assert PAPER_EUCLIDEAN.fit.amplitude is Amplitude.FIXED_SIGMA
    for preset in (PAPER, PAPER_EUCLIDEAN):
        assert preset.fit.mean == 0.0
        assert preset.design == Maximin(8, Metric.EUCLIDEAN)
        assert preset.repeats


def test_the_calibrated_preset_learns_amplitude_and_mean():
    assert isinstance(CALIBRATED.acquisition, GpTs)
    assert CALIBRATED.fit.amplitude is Amplitude.ESTIMATED
    assert CALIBRATED.fit.mean is netbo.ESTIMATED
    assert CALIBRATED.design is Maximin
    assert CALIBRATED.repeats is None
