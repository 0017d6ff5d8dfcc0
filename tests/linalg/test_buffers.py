import gc
import pickle

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo.linalg import BlockFactor, hat_elements
from netbo.linalg.runtime import KEPT, SMALLEST, Buffers


class Owner:
    """Something that holds an array and can be gone."""


def test_an_array_returns_when_its_owner_is_gone():
    """Faulting in fresh pages costs more than a pass over them."""
    buffers, owner = Buffers(), Owner()
    address = buffers.lend(owner, SMALLEST).__array_interface__["data"]
    del owner
    gc.collect()

    assert buffers.lend(Owner(), SMALLEST).__array_interface__["data"] == address


def test_two_living_owners_share_nothing():
    buffers, owners = Buffers(), [Owner(), Owner()]
    first, second = (buffers.lend(owner, SMALLEST) for owner in owners)

    assert not np.shares_memory(first, second)


def test_small_arrays_are_not_kept():
    buffers, owner = Buffers(), Owner()
    array = buffers.lend(owner, SMALLEST - 1)
    del owner
    gc.collect()

    assert not np.shares_memory(array, buffers.lend(Owner(), SMALLEST - 1))


def test_only_a_few_arrays_wait_for_another_use():
    buffers = Buffers()
    owners = [Owner() for _ in range(KEPT + 3)]
    lent = [buffers.lend(owner, SMALLEST) for owner in owners]
    addresses = {array.__array_interface__["data"] for array in lent}
    del owners
    gc.collect()
    again = [Owner() for _ in range(KEPT + 3)]
    returned = [buffers.lend(owner, SMALLEST).__array_interface__["data"] in addresses for owner in again]

    assert sum(returned) == KEPT


def test_shapes_are_kept_apart():
    buffers, owner = Buffers(), Owner()
    buffers.lend(owner, SMALLEST)
    del owner
    gc.collect()

    assert buffers.lend(Owner(), 2, SMALLEST).shape == (2, SMALLEST)


def test_buffers_travel_empty():
    """A work array of a hundred megabytes has no place in a pickle."""
    buffers, owner = Buffers(), Owner()
    buffers.lend(owner, 4 * SMALLEST)
    del owner
    gc.collect()

    assert len(pickle.dumps(buffers)) < 200
    assert isinstance(pickle.loads(pickle.dumps(buffers)), Buffers)


def test_factors_alive_at_once_keep_their_own_numbers():
    """Two kappas, and a third whose array the next factor takes over, on one mesh."""
    space = netbo.FiniteElementSpace.build(netbo.interval(1.0), n_nodes=20_000)
    rhs = np.zeros((1, space.n_nodes, 2))
    rhs[0, [0, 700], 1] = 1.0

    def factor(kappa):
        return BlockFactor(space.topology, hat_elements(kappa * space.cell_lengths, 2, lumped=False), 2)

    alone = {}
    for kappa in (1.0, 3.0, 9.0):
        alone[kappa] = factor(kappa).solve(rhs.copy())
        gc.collect()
    one, two = factor(1.0), factor(3.0)
    before = one.solve(rhs.copy())
    del two
    gc.collect()
    three = factor(9.0)

    assert_array_equal(before, alone[1.0])
    assert_array_equal(three.solve(rhs.copy()), alone[9.0])
    assert_array_equal(one.solve(rhs.copy()), alone[1.0])
    assert not np.allclose(alone[1.0], alone[3.0])


def test_a_selected_inverse_outlives_its_factor():
    """Its arrays are not borrowed: the next factor must not write into them."""
    space = netbo.FiniteElementSpace.build(netbo.interval(1.0), n_nodes=70_000)

    def factor(kappa):
        return BlockFactor(space.topology, hat_elements(kappa * space.cell_lengths, 1, lumped=False), 1)

    selected = factor(2.0).select()
    variances = selected.variances.copy()
    gc.collect()
    factor(5.0).select()
    exact = 1 / (np.tanh(2.0))  # kappa G(0, 0) on the unit interval, Neumann ends

    assert_array_equal(selected.variances, variances)
    assert_allclose(variances[0], exact, rtol=1e-8)
