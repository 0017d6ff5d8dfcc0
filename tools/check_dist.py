"""Does the built wheel work for a user? A fresh environment, the demonstration, one example of each trade.

python tools/check_dist.py [--python python3.13] [--out FILE]

Installs dist/*.whl alone, says how much that is, then adds the extras of the trades. All runs in an empty
folder, so that nothing of the checkout is imported.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = "telecom,geo,osm,water,power"
EXAMPLES = {  # of each trade, and what its network comes with
    "streets": "03_soho_cholera.py",
    "measurements": "04_measurements_on_roads.py",
    "water": "05_leak_in_net3.py",
    "power": "06_fault_on_a_line.py",
    "telecommunication": "07_new_york_telecom.py",
    "a town by hand": "02_find_the_leak.py",
}
CARRIERS = ("libpysal", "momepy")  # packages that carry street networks


def megabytes(folder: Path) -> float:
    """Size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder; its output is shown if it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(python: str, wheel: Path, folder: Path) -> dict[str, object]:
    """Install and use the wheel in a folder; what was found."""
    run(python, "-m", "venv", folder / "env", folder=folder)
    own = folder / "env" / "bin" / "python"
    (packages,) = (folder / "env" / "lib").glob("python3*/site-packages")
    before = megabytes(packages)
    run(own, "-m", "pip", "install", "-q", wheel, folder=folder)
    alone = megabytes(packages) - before
    run(own, "-m", "pip", "check", folder=folder)
    run(own, "-m", "pip", "install", "-q", f"{wheel}[{EXTRAS}]", *CARRIERS, folder=folder)
    print(run(folder / "env" / "bin" / "netbo", "demo", "--quick", folder=folder))
    for trade, name in EXAMPLES.items():
        shutil.copy(ROOT / "examples" / name, folder)
        printed = run(own, "-W", "ignore", name, folder=folder).strip().splitlines()
        print(f"{trade}: {printed[-2]}")
    where = run(own, "-c", "import netbo; print(netbo.__file__)", folder=folder).strip()
    assert Path(where).is_relative_to(folder), where
    return {
        "python": run(own, "--version", folder=folder).strip(),
        "wheel_mb": round(wheel.stat().st_size / 1e6, 2),
        "package_mb": round(megabytes(packages / "netbo"), 2),
        "installed_mb": round(alone),
        "examples": list(EXAMPLES.values()),
    }


def main() -> None:
    """Check the one wheel in dist."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default="python3", help="of the fresh environment")
    parser.add_argument("--out", type=Path, help="JSON")
    options = parser.parse_args()
    (wheel,) = (ROOT / "dist").glob("*.whl")
    python = str(Path(options.python).absolute()) if "/" in options.python else options.python
    with tempfile.TemporaryDirectory() as folder:
        found = check(python, wheel, Path(folder))
    print(json.dumps(found, indent=1))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
