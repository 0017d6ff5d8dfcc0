"""The moving picture of README and site: Soho in 1854, a frame for each place surveyed.

python tools/moving_picture.py docs/pictures/search.gif

The search of examples/03_soho_cholera.py, seed 0: streets coloured by what is known so far.
"""

import io
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize
from PIL import Image

import netbo
from netbo import plotting
from netbo.plotting import style

BUDGET, SEED = 24, 0
EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "03_soho_cholera.py"))
SIZE, DPI, COLOURS = (6.4, 5.2), 100, 160
FRAME, LAST = 650, 4000  # milliseconds


def frame(optimizer: netbo.Optimizer, worst: netbo.Points, highest: float, number: int) -> Image.Image:
    """What is known after so many surveys."""
    graph, seen = optimizer.graph, optimizer.observations
    figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
    plotting.draw_field(
        graph, optimizer.posterior.mean, ax, norm=Normalize(0.0, highest), linewidth=3.2,
        label="deaths per 100 m of street, estimated",
    )  # fmt: skip
    plotting.draw_points(graph, seen.points, ax, size=6, label="surveyed")
    plotting.draw_points(
        graph, seen.points[-1:], ax, marker="^", color=style.NEXT, size=11, label="the latest"
    )
    plotting.draw_points(
        graph, worst, ax, marker="*", color="#f2c230", size=17, label="worst place, unknown to the search"
    )
    plotting.draw_legend(ax, ncols=3)
    share = seen.values.max() / highest
    ax.set_title(
        f"places surveyed: {number}; the worst of them has {share:.0%} of the highest rate", fontsize=11
    )
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI)
    plt.close(figure)
    return Image.open(buffer).convert("RGB")


def search() -> tuple[netbo.Optimizer, Any, netbo.Points, float]:
    """The optimizer, the rate, and where a scan of all streets finds the highest."""
    network = netbo.read(EXAMPLE["MAPS"] / "Soho_Network.shp", node=True, snap=EXAMPLE["SNAP"])
    rate = EXAMPLE["CholeraRate"](network)
    everywhere, _ = EXAMPLE["spread"](network.graph, step=2.0)
    rates = np.concatenate([rate.rates(everywhere[k : k + 500]) for k in range(0, len(everywhere), 500)])
    optimizer = netbo.Optimizer(network, noise=0.0, seed=SEED, max_cell=10.0)
    return optimizer, rate, everywhere[[int(np.argmax(rates))]], float(rates.max())


def main() -> None:
    """Search, draw, write."""
    mpl.use("Agg")
    warnings.simplefilter("ignore", netbo.errors.NetworkWarning)
    target = Path(sys.argv[1])
    optimizer, rate, worst, highest = search()
    frames = []
    for number in range(1, BUDGET + 1):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, rate(suggestion.point))
        frames.append(frame(optimizer, worst, highest, number))
    palette = frames[-1].quantize(COLOURS)
    flat = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in frames]
    times = [FRAME] * (BUDGET - 1) + [LAST]
    flat[0].save(target, save_all=True, append_images=flat[1:], duration=times, loop=0, optimize=True)
    share = optimizer.best().value / highest
    print(
        f"{target}: {target.stat().st_size / 1e3:.0f} kB; best of {BUDGET}: {share:.1%} of the highest rate"
    )


if __name__ == "__main__":
    main()
