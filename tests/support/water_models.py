"""Small water networks whose heads are known in closed form, in SI."""

import wntr
from wntr.library import ModelLibrary

COEFFICIENT, DIAMETER, LENGTH = 120.0, 0.3, 1000.0


def stored(name):
    """Path of a network that comes with wntr."""
    return ModelLibrary().get_filepath(name)


def hazen_williams(flow, length):
    """Head lost in metres: 10.667 L Q^1.852 / (C^1.852 D^4.871), Q in m3/s."""
    return 10.667 * length * flow**1.852 / (COEFFICIENT**1.852 * DIAMETER**4.871)


def one_pipe(**pipe):
    """A reservoir of head 50 at the end of one pipe to a junction without demand."""
    model = wntr.network.WaterNetworkModel()
    model.options.time.duration = 0
    model.add_reservoir("lake", base_head=50.0, coordinates=(0, 0))
    model.add_junction("town", elevation=10.0, coordinates=(3, 4))
    model.add_pipe("main", "lake", "town", LENGTH, DIAMETER, COEFFICIENT, **pipe)
    return model


def two_lakes(**pipe):
    """Lake, main, west | middle pipe | east, spur, pond: the middle pipe may be closed."""
    model = one_pipe()
    model.add_junction("east", elevation=10.0, coordinates=(6, 8))
    model.add_reservoir("pond", base_head=45.0, coordinates=(9, 12))
    model.add_pipe("middle", "town", "east", LENGTH, DIAMETER, COEFFICIENT, **pipe)
    model.add_pipe("spur", "pond", "east", LENGTH, DIAMETER, COEFFICIENT)
    return model
