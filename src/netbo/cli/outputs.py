"""What a search leaves behind: the table, pictures, a map for other programs, a page to send to others."""

from pathlib import Path

from matplotlib import pyplot as plt

from netbo.adapters import Network
from netbo.optimize import Result, Status
from netbo.optimize.results.page import write_page

DPI = 150


def write_outputs(result: Result, network: Network, out: Path) -> list[Path]:
    """Table, pictures, GeoPackage and page of a run; without any value the table alone."""
    written = [out / "table.csv"]
    result.history.to_csv(written[0])
    if not result.optimizer.history.having(Status.OBSERVED):
        return written
    written += [_picture(result, out / "map.png"), _picture(result, out / "convergence.png")]
    if network.graph.dimension is not None:
        written.append(result.export(out / "map.gpkg", network=network))
    written.append(write_page(result, out / "report.html", network=network))
    return written


def _picture(result: Result, path: Path) -> Path:
    ax = result.plot() if path.stem == "map" else result.plot_convergence()
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.savefig(path, dpi=DPI, bbox_inches="tight")
    plt.close(figure)
    return path
