import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.problems import ACKLEY, LEVY, OUTER_FUNCTIONS, RASTRIGIN, extremes


def printed(name, x):
    """The formulas of the paper, ssec:benchmarks, in 50 digits."""
    with mp.workdps(50):
        x = mp.mpf(float(x))
        w = 1 + (x - 1) / 4
        value = {
            "ackley": -20 * mp.exp(-abs(x) / 5) - mp.exp(mp.cos(2 * mp.pi * x)) + 20 + mp.e,
            "rastrigin": x**2 - 10 * mp.cos(2 * mp.pi * x) + 10,
            "levy": mp.sin(mp.pi * w) ** 2 + (w - 1) ** 2 * (1 + mp.sin(2 * mp.pi * w) ** 2),
        }[name]
        return float(value)


@pytest.mark.parametrize("outer", OUTER_FUNCTIONS.values(), ids=OUTER_FUNCTIONS)
def test_functions_are_the_printed_ones(outer):
    a = np.concatenate([np.random.default_rng(0).uniform(-12, 12, 200), [0.0, 1.0, 1e-9, 1 + 1e-9, -3.0]])

    assert_allclose(outer(a), [printed(outer.name, x) for x in a], rtol=1e-12, atol=1e-17)


@pytest.mark.parametrize("outer", OUTER_FUNCTIONS.values(), ids=OUTER_FUNCTIONS)
def test_the_minimum_is_exactly_zero_and_nothing_is_below(outer):
    a = outer.minimizer + np.concatenate([np.linspace(-30, 30, 100_001), np.logspace(-18, 0, 1000)])

    assert outer(np.array(outer.minimizer)) == 0.0
    assert (outer(a) >= 0).all()


def test_values_known_by_hand():
    """Ackley(1) = 20 (1 - e^-0.2), Rastrigin(1/2) = 20.25; Levy(5) has w = 2, Levy(3) has w = 3/2."""
    assert ACKLEY(np.array(1.0)) == pytest.approx(20 * (1 - np.exp(-0.2)))
    assert RASTRIGIN(np.array(0.5)) == pytest.approx(20.25)
    assert_allclose(LEVY(np.array([5.0, 3.0])), [1.0, 1.25])


def test_functions_are_listed_by_name():
    assert list(OUTER_FUNCTIONS) == ["ackley", "rastrigin", "levy"]
    assert all(name == outer.name for name, outer in OUTER_FUNCTIONS.items())


@pytest.mark.parametrize("outer", OUTER_FUNCTIONS.values(), ids=OUTER_FUNCTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_extremes_are_those_of_a_brute_search(outer, seed):
    """Brute grid: steps of at most 4e-5, so its extremes err by 200 (2e-5)^2 / 2 = 4e-8, 8e-5 at a cusp."""
    low, high = np.sort(np.random.default_rng(seed).uniform(-4, 4, 2))
    values = outer(np.linspace(low, high, 200_001))
    found = extremes(outer, [(low, high)])

    assert low <= found.minimizer <= high
    assert outer(np.array(found.minimizer)) == found.minimum
    assert -1e-13 <= values.min() - found.minimum <= 1e-4
    assert -1e-13 <= found.maximum - values.max() <= 1e-7


def test_a_valley_without_the_known_minimizer_is_found_to_rounding():
    """Rastrigin near 1: 2 a + 20 pi sin(2 pi a) = 0, solved in 50 digits."""
    with mp.workdps(50):
        a = mp.findroot(lambda t: 2 * t + 20 * mp.pi * mp.sin(2 * mp.pi * t), 0.995)
    found = extremes(RASTRIGIN, [(0.6, 3.2)])

    assert found.minimum == pytest.approx(printed("rastrigin", a), rel=1e-14)
    assert found.minimizer == pytest.approx(float(a), abs=1e-7)


def test_the_lowest_of_many_nearly_equal_valleys_is_found():
    """Far out Ackley's valleys differ by little: the one nearest to 0 is the lowest."""
    found = extremes(ACKLEY, [(40.3, 300.0)])

    assert found.minimizer == pytest.approx(41.0, abs=1e-3)


def test_extremes_of_several_intervals_and_of_points():
    found = extremes(RASTRIGIN, [(0.5, 0.5), (-0.1, 0.1), (1.0, 1.0)])

    assert (found.minimum, found.minimizer) == (0.0, 0.0)
    assert found.maximum == pytest.approx(20.25)


@pytest.mark.parametrize("high", [0.3, np.nextafter(0.3, 1), 1 / 3, 0.1 + 0.2])
def test_an_extreme_at_an_end_is_the_end(high):
    """Rastrigin falls from 1/2 towards 1 and rises from 0 to 1/2."""
    found = extremes(RASTRIGIN, [(0.1, high)])

    assert found.minimizer == 0.1
    assert found.maximum == RASTRIGIN(np.array(high))
