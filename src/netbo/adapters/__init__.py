"""The networks people have: read, checked, addressed by their own ids, and given back on their map."""

from netbo.adapters.addresses import Address, Addresses
from netbo.adapters.assemble import assemble
from netbo.adapters.door import read
from netbo.adapters.links import Links, Treatment
from netbo.adapters.measurements import Measurements, snap_measurements
from netbo.adapters.netbo_json import content_hash, dump, load, read_network, write_network
from netbo.adapters.network import Network
from netbo.adapters.report import NetworkReport
from netbo.adapters.wrapping import as_network

__all__ = [
    "Address",
    "Addresses",
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
    "snap_measurements",
    "write_network",
]
