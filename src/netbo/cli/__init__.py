"""The command `netbo`; needs click and rich, which nothing else here imports."""

from netbo.cli.app import main

__all__ = ["main"]
