"""Figures that a test leaves open, as examples do, are closed."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")
