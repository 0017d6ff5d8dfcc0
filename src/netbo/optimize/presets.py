"""Whole ways to optimize: the paper's, and ours. Every part of a preset can be replaced by another object."""

from dataclasses import dataclass

from netbo.acquisition import (
    Acquisition,
    FixedWidth,
    PaperWidth,
    RestlessImprovement,
    ThompsonSampling,
    UpperConfidenceBound,
)
from netbo.optimize.design import Design, KMedian, Maximin, Metric
from netbo.optimize.learning import Combination, Learned, Learning
from netbo.optimize.models import EdgewiseMatern, EuclideanMatern, MeshFreeMatern, NetworkMatern
from netbo.posterior import Amplitude, Belief, Beliefs


@dataclass(frozen=True, slots=True)
class Preset:
    """Surrogate model, acquisition and design that go together; options of `Optimizer` replace its parts.

    Parameters
    ----------
    name : str
        By which it is found.
    acquisition : Acquisition
        Rule for the next query.
    fit : Learning
        Surrogate model: kernels and how their parameters are fitted.
    design : Design or type
        Initial design, or the kind of one whose size fits the network; by default maximin.
    repeats : bool, optional
        Whether a place may be asked for twice; by default unless values are exact.
    everywhere : bool
        Whether a network is searched between the candidates and on every arm of a junction too; by default
        the nodes of a mesh are all.
    separation : float
        Least distance between pending places, in diameters.

    Examples
    --------
    >>> import netbo
    >>> from dataclasses import replace
    >>> cautious = replace(CALIBRATED, name="cautious", acquisition=UpperConfidenceBound(FixedWidth(3.0)))
    >>> optimizer = netbo.Optimizer(netbo.interval(2.0), preset=cautious)
    """

    name: str
    acquisition: Acquisition
    fit: Learning
    design: Design | type[Maximin | KMedian] = Maximin  # a type: of a size that fits the network
    repeats: bool | None = None  # None: unless the objective is deterministic
    everywhere: bool = False
    separation: float = 0.0


PAPER = Preset(
    name="paper",
    acquisition=UpperConfidenceBound(PaperWidth()),
    fit=Learned(models=(NetworkMatern(alpha=1.0),), mean=0.0, amplitude=Amplitude.FIXED_TAU, every_step=True),
    design=Maximin(8, Metric.EUCLIDEAN),
    repeats=True,
)
PAPER_EUCLIDEAN = Preset(
    name="paper-euclidean",
    acquisition=UpperConfidenceBound(PaperWidth()),
    fit=Learned(
        models=(EuclideanMatern(nu=0.5),), mean=0.0, amplitude=Amplitude.FIXED_SIGMA, every_step=True
    ),
    design=Maximin(8, Metric.EUCLIDEAN),
    repeats=True,
)
STEADY = Beliefs(range=Belief(median=0.25, log_sd=2.0), noise_ratio=Belief(median=0.01, log_sd=2.0))
CALIBRATED = Preset(
    name="calibrated",
    acquisition=ThompsonSampling(FixedWidth(1.0)),
    fit=Learned(models=(NetworkMatern(alpha=1.0),), beliefs=STEADY),
)
ROBUST = Preset(
    name="robust",
    acquisition=RestlessImprovement(),
    fit=Learned(
        models=(MeshFreeMatern(alpha=1.0), EdgewiseMatern()),
        combination=Combination.AVERAGE,
        beliefs=STEADY,
        pace=8,
    ),
    design=KMedian,
    everywhere=True,
    separation=0.02,
)
PRESETS = {preset.name: preset for preset in (ROBUST, CALIBRATED, PAPER, PAPER_EUCLIDEAN)}
