"""A network named on the command line, with what the reader is to be told about it."""

import json
from collections.abc import Sequence
from typing import Any

from netbo.adapters import Network, read
from netbo.errors import ParameterError


def read_network(source: str, options: Sequence[str] = ()) -> Network:
    """The network of a file, or one known by name; options are name=value, as for `netbo.read`."""
    return read(source, **parse_options(options))


def parse_options(options: Sequence[str]) -> dict[str, Any]:
    r"""What name=value means: JSON where it is JSON (numbers, true, lists), text where it is not.

    >>> parse_options(["snap=0.5", "node=true", "length=km", "layer=\"5\""])
    {'snap': 0.5, 'node': True, 'length': 'km', 'layer': '5'}
    """
    values = {}
    for option in options:
        name, is_assigned, text = option.partition("=")
        if not is_assigned or not name.strip():
            raise ParameterError(f"--read must be name=value, got {option!r}; try --read snap=0.5")
        try:
            value = json.loads(text)
        except ValueError:
            value = text.strip()
        values[name.strip().replace("-", "_")] = value
    return values
