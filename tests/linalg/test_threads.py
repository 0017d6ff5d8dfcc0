import multiprocessing

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo.linalg import BlockFactor, Load, Topology, hat_elements, set_threads, thread_count
from netbo.linalg import runtime as threads


@pytest.fixture(autouse=True)
def _default_threads_afterwards():
    yield
    set_threads(None)


def large_mesh() -> netbo.FiniteElementSpace:
    """A mesh above the size from which threads are used."""
    return netbo.FiniteElementSpace.build(netbo.road(200, seed=0), n_nodes=threads.SERIAL_NODES + 5000)


def results(space: netbo.FiniteElementSpace, p: int = 2) -> list[np.ndarray]:
    """What a factor of the mesh gives: determinant, solution, variances and sums."""
    rng = np.random.default_rng(0)
    weight = np.zeros(space.n_nodes)
    weight[rng.integers(0, space.n_nodes, 50)] = 10.0
    factor = BlockFactor(
        space.topology, hat_elements(space.cell_lengths, p, lumped=False), p, Load(weight, np.zeros(1))
    )
    rhs = rng.standard_normal((1, space.n_nodes, p))
    selected = factor.select_with_sums()
    return [
        np.array([factor.log_determinant]),
        factor.solve(rhs),
        selected.variances,
        selected.neighbours,
        selected.diagonals,
        selected.couples,
    ]


def test_threads_change_no_bit():
    """Every edge is computed by one thread, in the same order of operations."""
    space = large_mesh()
    set_threads(1)
    serial = results(space)
    set_threads(2)
    parallel = results(space)

    assert space.topology.offsets[-1] >= threads.SERIAL_NODES
    for one, two in zip(serial, parallel, strict=True):
        assert_array_equal(one, two)


def test_threads_are_limited_on_request():
    set_threads(3)
    limited = thread_count()
    set_threads(0)
    lowest = thread_count()
    set_threads(None)

    assert (limited, lowest) == (3, 1)
    assert thread_count() >= 1


@pytest.mark.parametrize("run", [threads.edges_then_vertices, threads.vertices_then_edges])
@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("interior", [[60_000], [50_000, 1, 1], [0, 0, 99_999, 0], [20_000] * 7, [3, 4]])
def test_ranges_cover_every_edge_once(interior, workers, run):
    """However uneven the edges are, and however many threads there are; the vertices have one turn."""
    offsets = np.concatenate([[0], np.cumsum(interior)])
    calls = []
    set_threads(workers)
    run(lambda edges, extra: calls.append((*edges, extra)), offsets, "x")
    ranges = [(first, last) for first, last, *_ in calls if first < last]
    turns = [vertices for _, _, vertices, _ in calls]

    assert sorted(e for edges in ranges for e in range(*edges)) == list(range(len(interior)))
    assert len(ranges) <= (workers if offsets[-1] >= threads.SERIAL_NODES else 1)
    assert {extra for *_, extra in calls} == {"x"}
    assert sum(turns) == 1
    assert turns[-1 if run is threads.edges_then_vertices else 0]


@pytest.mark.parametrize("run", [threads.edges_then_vertices, threads.vertices_then_edges])
def test_an_error_in_a_thread_reaches_the_caller(run):
    def fail(edges):
        if not edges[2]:
            raise ZeroDivisionError("in a thread")

    set_threads(2)

    with pytest.raises(ZeroDivisionError, match=r"in a thread"):
        run(fail, np.array([0, 40_000, 80_000]))


def _solve_in_child(space: netbo.FiniteElementSpace, pipe) -> None:
    set_threads(2)
    pipe.send(results(space)[1])
    pipe.close()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_solves_after_its_parent_used_threads():
    """The parent's threads do not exist in the child: it has to start its own."""
    space = large_mesh()
    set_threads(2)
    expected = results(space)[1]
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_solve_in_child, args=(space, sender))
    child.start()
    arrived = receiver.poll(120)
    found = receiver.recv() if arrived else None
    child.join(10)
    if child.is_alive():
        child.kill()

    assert arrived
    assert child.exitcode == 0
    assert_array_equal(found, expected)


def test_a_mesh_without_interior_nodes_needs_no_thread():
    topology = Topology(np.array([0]), np.array([1]), np.array([0, 0]), 2)
    factor = BlockFactor(topology, hat_elements(np.array([1.0]), 1, lumped=True), 1)

    assert_allclose(factor.select().variances, np.diag(np.linalg.inv([[1.5, -1.0], [-1.0, 1.5]])))
