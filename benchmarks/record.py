"""What every benchmark writes beside its figures: sizes, seed, versions, commit, machine and its load."""

import json
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

NO_CODE = (":(top,exclude)benchmarks/results", ":(top,exclude)docs")  # a record does not soil the next one
LOAD = os.getloadavg()[0]  # over the minute before the benchmark began: above 0.5 somebody else was at work


def processor() -> str:
    """Name of the processor, where the system tells."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text().splitlines() if cpus.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _git(*words: str) -> str:
    git = ["git", "-C", str(Path(__file__).parent), *words]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()


def write(path: Path | None, question: str, result: dict[str, Any]) -> None:
    """Write a result as JSON, with what it takes to make it again."""
    if path is None:
        return
    commit = _git("describe", "--always")
    is_dirty = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", *NO_CODE) != ""
    record = {
        "question": question,
        "commit": f"{commit}{'-dirty' if is_dirty else ''}" or None,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(LOAD, 2),
        "versions": {name: version(name) for name in ("numpy", "scipy", "numba")},
        **result,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"written: {path}")
