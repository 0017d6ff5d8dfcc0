"""Is this commit as fast as another? core, asking and start of both checkouts in turns, ratios of minima.

    python benchmarks/against.py OLD --out benchmarks/results/against.json

OLD is a checkout of the other commit; each side runs its own scripts with its own kernels, one process at a
time. A ratio below 1 says that this commit is faster.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from record import write

HERE = Path(__file__).parents[1]
SCRIPTS: dict[str, list[str]] = {
    "start": ["--repeats", "2"],
    "core": ["--budget", "2"],
    "asking": [],
}
TIMES, SIZES = ("cpu_s", "ms", "ms mean", "ms median"), ("N", "nodes")  # keys of the records


def measured(checkout: Path, script: str, cache: Path) -> dict[str, float]:
    """The times a benchmark of a checkout writes, by what they are times of."""
    out = cache / f"{script}.json"
    environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, str(checkout / "benchmarks" / f"{script}.py"), *SCRIPTS[script]]
    subprocess.run([*command, "--out", str(out)], env=environment, check=True, stdout=subprocess.DEVNULL)
    return {f"{script} {name}": value for name, value in times_in(json.loads(out.read_text()))}


def times_in(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """All times of a record, named by the words and sizes on the way to them."""
    if isinstance(value, list):
        for each in value:
            yield from times_in(each, name)
    elif isinstance(value, dict):
        words = [str(each) for key, each in value.items() if isinstance(each, str) or key in SIZES]
        here = " ".join([name, *words]) if name else ""  # the head of a record is no name
        for key, each in value.items():
            if isinstance(each, float) and key in TIMES:
                yield f"{here} {key}".strip(), each
            elif isinstance(each, dict | list) and key != "versions":
                yield from times_in(each, f"{here} {key}".strip())


def main() -> None:
    """Run both in turns and print every ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(SCRIPTS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    sides = {"old": options.old.resolve(), "new": HERE}
    best: dict[str, dict[str, float]] = {"old": {}, "new": {}}
    with tempfile.TemporaryDirectory() as folder:
        for side in sides:
            (Path(folder) / side).mkdir()
        for _ in range(options.rounds):
            for script in options.only:
                for side, checkout in sides.items():
                    for name, value in measured(checkout, script, Path(folder) / side).items():
                        best[side][name] = min(value, best[side].get(name, value))
    ratios = {name: best["new"][name] / old for name, old in best["old"].items() if name in best["new"]}
    for name, ratio in ratios.items():
        print(f"{ratio:6.3f}  {name}")
    print(f"{len(ratios)} ratios, largest {max(ratios.values()):.3f}")
    commit = subprocess.run(
        ["git", "-C", str(options.old), "describe", "--always"], capture_output=True, text=True, check=False
    ).stdout.strip()
    write(
        options.out,
        __doc__ or "",
        {"old": commit, "rounds": options.rounds, "ratios": ratios, "seconds or ms": best},
    )


if __name__ == "__main__":
    main()
