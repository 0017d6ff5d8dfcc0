"""Readers of network formats, with a report and the user's addresses; measurements in, maps out."""

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.findings import Finding
from netbo.adapters.links import Links, Treatment
from netbo.adapters.measurements import Measurements, read_places, read_stretches, snap_measurements
from netbo.adapters.netbo_json import content_hash, dump, load, read_network, write_network
from netbo.adapters.network import Network, as_network
from netbo.adapters.read import read
from netbo.adapters.report import NetworkReport
from netbo.geometry import Address, Addresses

__all__ = [
    "Address",
    "Addresses",
    "Finding",
    "Links",
    "Measurements",
    "Network",
    "NetworkReport",
    "Treatment",
    "as_network",
    "assemble",
    "content_hash",
    "dump",
    "load",
    "read",
    "read_network",
    "read_places",
    "read_stretches",
    "snap_measurements",
    "write_network",
]
