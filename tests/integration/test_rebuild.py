"""A study rebuilt from its record, in another process, suggests what the first one would have."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import netbo
from netbo import Optimizer
from netbo.optimize import Combination, EuclideanMatern, Learned, Maximin, NetworkMatern
from support.reference import contract_graph

AVERAGE = Learned(
    models=(NetworkMatern(0.5), NetworkMatern(1.0), EuclideanMatern(0.5)), combination=Combination.AVERAGE
)
GRAPHS = {"mixed": contract_graph(), "symmetric": netbo.star(4, 2.0)}
CASES = {
    "calibrated, noise learned": ("mixed", {"noise": None}),
    "calibrated, exact": ("mixed", {"noise": 0.0}),
    "calibrated, noise given": ("mixed", {"noise": 0.01, "separation": 0.3}),
    "calibrated, upper bounds": ("symmetric", {"noise": 0.01, "acquisition": "ucb"}),
    "calibrated, improvement": ("symmetric", {"noise": 0.0, "acquisition": "noisy-ei"}),
    "calibrated, minimizing": ("mixed", {"noise": 0.01, "direction": "minimize", "acquisition": "log-ei"}),
    "paper": ("mixed", {"preset": "paper", "noise": 0.01}),
    "paper, Thompson, noise learned": ("mixed", {"preset": "paper", "acquisition": "thompson"}),
    "average of models": ("mixed", {"fit": AVERAGE, "noise": 0.01, "design": Maximin(4)}),
}

REBUILD = """
import pickle, sys
from netbo import Optimizer

cases = pickle.load(sys.stdin.buffer)
found = {}
for name, (graph, settings, trials) in cases.items():
    optimizer = Optimizer(graph, history=trials, **settings)
    found[name] = [optimizer.ask(), *optimizer.ask(3)]
sys.stdout.buffer.write(pickle.dumps(found))
"""


def study(graph, settings):
    """Batches, failures, corrections, withdrawals, cancellations, own noise, tells out of order."""
    optimizer = Optimizer(graph, **settings)
    rng = np.random.default_rng(settings["seed"])

    def value(suggestion):
        return math.sin(2 * suggestion.point.z + suggestion.point.edge) + 0.05 * rng.standard_normal()

    design = optimizer.ask(10)
    for suggestion in reversed(design[:7]):
        optimizer.tell(suggestion, value(suggestion))
    optimizer.tell(design[8], "failed")
    optimizer.cancel(design[9])
    batch = optimizer.ask(3)
    optimizer.tell(design[7], value(design[7]), noise=0.03)
    optimizer.tell(batch[2], value(batch[2]))
    optimizer.correct(design[3], 0.4)
    optimizer.tell(graph.points(1, 0.37), [0.2])
    more = optimizer.ask(2)
    optimizer.tell(batch[0], value(batch[0]), at=graph.points(2, 0.21))
    optimizer.withdraw(more[0].id - 1)
    optimizer.tell(design[9], value(design[9]))
    optimizer.ask()
    return optimizer


@pytest.fixture(scope="module")
def studies():
    """Optimizers with their records, by case."""
    return {
        name: study(GRAPHS[graph], {"seed": 5, "max_cell": 0.25} | settings)
        for name, (graph, settings) in CASES.items()
    }


@pytest.fixture(scope="module")
def rebuilt(studies):
    """The next suggestions of all cases, by a process that knows the records only."""
    cases = {
        name: (GRAPHS[graph], {"seed": 5, "max_cell": 0.25} | settings, list(studies[name].history))
        for name, (graph, settings) in CASES.items()
    }
    done = subprocess.run(
        [sys.executable, "-c", REBUILD], input=pickle.dumps(cases), capture_output=True, check=True
    )
    return pickle.loads(done.stdout)


@pytest.fixture(scope="module")
def continued(studies, rebuilt):
    """The next suggestions of the optimizers themselves, after their records were passed on."""
    return {name: [optimizer.ask(), *optimizer.ask(3)] for name, optimizer in studies.items()}


@pytest.mark.parametrize("name", CASES)
def test_a_rebuilt_study_goes_on_as_the_first_would_have(name, rebuilt, continued):
    """Places to the last bit, one suggestion and then three at once, over three pending ones."""
    assert rebuilt[name] == continued[name]
    assert len(rebuilt[name]) == 4


@pytest.mark.parametrize("name", ["calibrated, noise learned", "calibrated, upper bounds", "paper"])
def test_the_seed_and_the_record_are_all_that_counts(name):
    """Answers asked for in between change nothing; another seed does."""
    graph, settings = CASES[name]
    graph, settings = GRAPHS[graph], {"seed": 5, "max_cell": 0.25} | settings
    plain, curious = study(graph, settings), study(graph, settings)
    curious.summary()
    curious.modes(2)
    curious.recommend()
    other = study(graph, settings | {"seed": 6})

    assert curious.ask(2) == plain.ask(2)
    assert [t.point for t in other.history] != [t.point for t in plain.history]
