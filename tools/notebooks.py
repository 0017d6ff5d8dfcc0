"""The pages of the tutorial as notebooks, one each, to run and to change.

    python tools/notebooks.py FOLDER

Text becomes Markdown cells, blocks of Python become code cells; nothing is run. Links between pages lead
nowhere from a notebook: their words stay. Needs no package.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

TUTORIAL = Path(__file__).resolve().parents[1] / "docs" / "tutorial"
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\n*")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


def cell(kind: str, text: str) -> dict[str, Any]:
    """A cell of a notebook, in format 4."""
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": text.strip("\n").splitlines(keepends=True), **code}


def notebook_of(page: str) -> dict[str, Any]:
    """The notebook of a page in Markdown."""
    parts = BLOCK.split(page)  # text, code, text, ...
    kinds = ("markdown", "code")
    texts = [LINK.sub(r"\1", PICTURE.sub("", each)) if i % 2 == 0 else each for i, each in enumerate(parts)]
    cells = [cell(kinds[i % 2], each) for i, each in enumerate(texts) if each.strip()]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


def write_notebooks(folder: Path) -> list[Path]:
    """A notebook for each page that has code, in the folder; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in sorted(TUTORIAL.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if BLOCK.search(text):
            written.append(folder / f"{page.stem}.ipynb")
            written[-1].write_text(json.dumps(notebook_of(text), indent=1) + "\n", encoding="utf-8")
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The pages of the tutorial as notebooks.")
    parser.add_argument("folder", type=Path)
    print(*write_notebooks(parser.parse_args().folder), sep="\n")
