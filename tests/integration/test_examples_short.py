"""The short examples of the gallery: the value in which each ends."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")


def run(name):
    return runpy.run_path(str(EXAMPLES / name))


def test_crews_do_not_meet_and_find_the_source():
    example = run("08_batches_and_crews.py")

    assert len(example["optimizer"].history) == example["ROUNDS"] * example["CREWS"]
    assert example["between"].min() >= example["APART"]
    assert example["found"].point.edge_id == 30
    assert example["off"] < 0.1


def test_the_search_over_hydrants_ends_at_the_one_nearest_to_the_leak():
    example = run("09_hydrants_only.py")
    seen = example["result"].optimizer.observations.points
    to_hydrants = example["town"].distance(seen, example["hydrants"]).min(axis=1)

    assert example["off"] == pytest.approx(example["nearest"])
    np.testing.assert_allclose(to_hydrants, 0.0, atol=1e-9)
    assert example["closed"].allows(example["asked"]).all()


@pytest.mark.slow
def test_the_best_value_flatters_and_the_recommended_mean_does_not():
    """Forty errors of standard deviation 2: the largest value is far above the truth of 10."""
    example = run("10_noise.py")

    for noise in ("known", "learned"):
        assert np.mean(example["flattery"][noise]) > 2.0
        assert abs(np.mean(example["excess"][noise])) < 0.6


def test_both_tops_are_modes_and_on_the_list():
    example = run("11_several_modes.py")

    assert {3, 32} <= {mode.point.edge_id for mode in example["modes"]}
    assert {3, 32} == {stretch.edge_id for stretch in example["listed"].stretches}
    assert example["listed"].length < 0.02 * example["streets"].total_length


def test_a_slow_crew_drives_less_and_both_find_the_leak():
    example = run("12_your_own_kernel.py")

    assert example["driven"][2.0] < example["driven"][1000.0]
    assert max(example["off"].values()) < 0.05


def test_optuna_finds_place_and_speed():
    example = run("13_optuna_sampler.py")

    assert example["found"].edge_id == 17
    assert example["off"] < 0.1
    assert example["speed"] == pytest.approx(0.7, abs=0.15)


@pytest.mark.slow
def test_the_default_is_the_first_of_the_board():
    board = run("14_comparing_methods.py")["board"].set_index("method")

    assert set(board.index) == {"default", "paper, Euclidean", "random"}
    assert board.loc["default", "reached"] > 0.8
    assert board["rank"].idxmin() == "default"


def test_a_search_over_a_million_nodes_comes_near_the_top():
    example = run("15_a_million_nodes.py")

    assert example["mesh"].n_nodes > 1_000_000
    assert example["off"] < 2.0  # the hill is 4 wide


def test_every_example_is_asserted_somewhere():
    """Files of examples, and those that the tests name."""
    tests = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_examples*.py")
    )

    for path in EXAMPLES.glob("*.py"):
        assert f'"{path.name}"' in tests, path.name
