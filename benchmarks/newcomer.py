"""How long is the path of a newcomer, from `git clone` to a picture of their own network?

Each step as a person would type it, in an empty folder, with an environment and a numba cache of its own:
seconds of wall-clock time. The clone is local; packages come from the index or its cache, so that step says
as much of the line as of us.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import record

ROOT = Path(__file__).parents[1]
ROADS = """from,to,length_km,x1,y1,x2,y2
Alba,Brae,4.0,0,0,4,0
Brae,Calder,6.5,4,0,7,5.7
Calder,Alba,9.2,7,5.7,0,0
Calder,Dun,3.0,7,5.7,10,5.7
"""
MINE = '''from math import exp


def traffic(place):
    """Cars a minute: most between Brae and Calder, 4 km from Brae."""
    return 10 + 20 * exp(-((place.distance - 4) ** 2)) if place.edge_id == ("Brae", "Calder") else 10.0
'''
PICTURE = """import matplotlib
matplotlib.use("agg")
import netbo
from mine import traffic
result = netbo.maximize(traffic, "roads.csv", budget=25, noise=0.0, seed=0, progress=False)
print(result.recommend())
result.plot().figure.savefig("roads.png")
"""


def steps(folder: Path, source: Path) -> dict[str, list[str]]:
    """What is typed, by what it is for."""
    python = str(folder / "env" / "bin" / "python")
    return {
        "clone": ["git", "clone", "--quiet", str(source), "netbo"],
        "environment": [sys.executable, "-m", "venv", "env"],
        "install": [python, "-m", "pip", "install", "--quiet", "./netbo"],
        "look at the network": [str(folder / "env" / "bin" / "netbo"), "inspect", "roads.csv"],
        "picture": [python, "picture.py"],
        "second picture": [python, "picture.py"],
    }


def main() -> None:
    """Walk the path once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT, help="repository to clone")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in {"roads.csv": ROADS, "mine.py": MINE, "picture.py": PICTURE}.items():
            (folder / file).write_text(text, encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
        for step, command in steps(folder, options.source).items():
            began = time.perf_counter()
            subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
            seconds[step] = round(time.perf_counter() - began, 2)
            print(f"{step:20s} {seconds[step]:7.1f} s")
        assert (folder / "roads.png").stat().st_size > 10_000
    total = round(sum(seconds[step] for step in seconds if step != "second picture"), 2)
    print(f"{'from clone to picture':20s} {total:7.1f} s")
    record.write(options.out, __doc__.splitlines()[0], {"seconds": seconds, "clone_to_picture_s": total})


if __name__ == "__main__":
    main()
