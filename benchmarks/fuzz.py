"""Does the package hold under attack? Arbitrary precision, bad arguments, hostile files, journals, kills."""

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"

PARTS: dict[str, tuple[str, int]] = {  # function of n and seed in tests/fuzz, and the n of the long form
    "numbers": ("fuzz", 10_000),
    "arguments": ("fuzz", 12_000),
    "files": ("fuzz", 700),
    "journals": ("fuzz_journals", 200),
    "kills": ("fuzz_kills", 60),
}


def attack(part: str, n: int, seed: int) -> dict[str, Any]:
    """What one part found; a part that raises at its first finding has that one."""
    begun = time.perf_counter()
    try:
        found = getattr(import_module(f"fuzz.{part}"), PARTS[part][0])(n, seed)
    except AssertionError as error:
        found = {"cases": n, "seed": seed, "wrong": [str(error)]}
    if not isinstance(found, dict) or "wrong" not in found:
        found = {"cases": n, "seed": seed, "found": found, "wrong": []}
    return {**found, "seconds": round(time.perf_counter() - begun)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n", type=int, help="cases of every part, instead of the long form's")
    chosen = parser.parse_args()
    import record  # noqa: PLC0415 - before the path is changed

    sys.path[0] = str(
        TESTS
    )  # instead of this folder: its studies.py would hide the folder studies of the tests
    found: dict[str, Any] = {}
    for part in chosen.only.split(","):
        found[part] = attack(part, chosen.n or PARTS[part][1], chosen.seed)
        print(part, {**found[part], "wrong": len(found[part]["wrong"])}, flush=True)
        for text in found[part]["wrong"]:
            print("  ", text.encode("ascii", "backslashreplace").decode())
        record.write(chosen.out, str(__doc__), found)  # a part that cannot run leaves what the others found
    sys.exit(any(part["wrong"] for part in found.values()))


if __name__ == "__main__":
    main()
