"""What every benchmark writes beside its figures: sizes, seed, versions, commit."""

import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any


def write(path: Path | None, question: str, result: dict[str, Any]) -> None:
    """Write a result as JSON, with what it takes to make it again."""
    if path is None:
        return
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    record = {
        "question": question,
        "commit": commit or None,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": {name: version(name) for name in ("numpy", "scipy", "numba")},
        **result,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"written: {path}")
