"""Small power networks whose short circuits are known in closed form."""

import numpy as np
import pandapower as pp

VOLTAGE, POWER, RX = 20.0, 500.0, 0.1  # kV, MVA and R/X of the supplying grid
R, X = 0.2, 0.35  # ohm a km
CABLE = {"r_ohm_per_km": R, "x_ohm_per_km": X, "c_nf_per_km": 0.0, "max_i_ka": 1.0}


def source_impedance():
    """Ohm at the supplied bus: c V^2 / S with c = 1.1, and a given R/X."""
    size = 1.1 * VOLTAGE**2 / POWER
    reactance = size / np.hypot(1.0, RX)
    return complex(RX * reactance, reactance)


def line_impedance(length):
    """Ohm of a length in km."""
    return complex(R, X) * length


def feeder(lengths=(4.0, 3.0), parallel=1):
    """A supplied bus 0 and lines in a row, with buses 1, 2, ..."""
    net = pp.create_empty_network(name="feeder")
    buses = [pp.create_bus(net, VOLTAGE) for _ in range(len(lengths) + 1)]
    pp.create_ext_grid(net, buses[0], s_sc_max_mva=POWER, rx_max=RX)
    for number, length in enumerate(lengths):
        pp.create_line_from_parameters(
            net, buses[number], buses[number + 1], length, parallel=parallel, **CABLE
        )
    return net


def ring(lengths=(4.0, 3.0, 5.0)):
    """Bus 0 supplied, lines 0-1, 1-2 and 2-0."""
    net = feeder(lengths[:2])
    pp.create_line_from_parameters(net, 2, 0, lengths[2], **CABLE)
    return net
