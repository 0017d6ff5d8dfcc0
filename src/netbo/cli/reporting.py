"""A run as one page."""

from pathlib import Path

import matplotlib as mpl

from netbo.cli.run_folder import open_run
from netbo.errors import ParameterError
from netbo.optimize import Result, Status
from netbo.optimize.results.page import write_page


def report_run(path: Path, out: Path | None) -> Path:
    """Write the page of a run; it needs no other file to be read."""
    mpl.use("agg")
    folder = open_run(path)
    optimizer, _ = folder.optimizer()
    if not optimizer.history.having(Status.OBSERVED):
        raise ParameterError(f"a report needs at least one value, got none in {path}; measure first")
    result = Result(optimizer, f"{len(optimizer.history)} measurements")
    return write_page(result, out or path / "report.html", network=folder.network)
