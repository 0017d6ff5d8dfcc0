import re

import pytest

from netbo import interval
from netbo.acquisition import Acquisition, FixedWidth, GpTs, IgpUcb, RandomSearch, ValidWidth
from netbo.errors import ParameterError
from netbo.optimize import CALIBRATED, PAPER, PAPER_EUCLIDEAN, Optimizer
from netbo.optimize.arguments import ACQUISITIONS, as_acquisition, as_preset, as_sign


def test_presets_have_names():
    assert as_preset("calibrated") is CALIBRATED
    assert as_preset("paper") is PAPER
    assert as_preset("paper-euclidean") is PAPER_EUCLIDEAN
    assert as_preset(PAPER) is PAPER


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_every_name_of_an_acquisition_gives_one(name):
    assert isinstance(as_acquisition(name), Acquisition)


def test_acquisitions_by_name_are_the_usual_ones():
    own = IgpUcb()

    assert as_acquisition("ucb") == IgpUcb(ValidWidth())
    assert as_acquisition("thompson") == GpTs(FixedWidth(1.0))
    assert as_acquisition("random") == RandomSearch()
    assert as_acquisition(own) is own


def test_directions_have_signs():
    assert (as_sign("maximize"), as_sign("minimize")) == (1, -1)


@pytest.mark.parametrize(
    ("keyword", "names"),
    [
        ("preset", "robust, calibrated, paper, paper-euclidean"),
        ("acquisition", "ucb, thompson, noisy-ei, restless, log-ei, max-variance, random"),
        ("direction", "maximize, minimize"),
    ],
)
@pytest.mark.parametrize("given", ["best", 3, ["ucb"]])
def test_unknown_names_are_refused_with_the_known_ones(keyword, names, given):
    message = f"{keyword} must be one of {names}, or an object, got {given!r}"
    with pytest.raises(ParameterError, match=re.escape(message)):
        Optimizer(interval(), **{keyword: given})
