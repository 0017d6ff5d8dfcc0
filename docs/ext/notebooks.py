"""Pages of the tutorial as notebooks, to be downloaded: their text and their blocks of Python."""

import json
import re
from pathlib import Path
from typing import Any

FOLDERS = ("tutorial",)
BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\n*")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")  # leads nowhere from a notebook: its words stay


def as_notebook(markdown: str) -> dict[str, Any]:
    """A notebook (format 4.5): blocks of Python are code, everything between them is text."""
    cells: list[dict[str, Any]] = []
    for number, part in enumerate(BLOCK.split(markdown)):
        is_code = number % 2 == 1
        if text := (part if is_code else LINK.sub(r"\1", PICTURE.sub("", part))).strip():
            code = {"execution_count": None, "outputs": []} if is_code else {}
            kind = "code" if is_code else "markdown"
            cells.append({"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text} | code)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def offer(app: Any, page: str, source: list[str]) -> None:
    """Write the notebook of a page beside the pages, and link it at the page's end."""
    if page.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and BLOCK.search(source[0]):
        target = Path(app.srcdir) / "notebooks" / f"{page.replace('/', '-')}.ipynb"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(as_notebook(source[0]), indent=1), encoding="utf-8")
        source[0] += f"\n\n[This page as a notebook](/notebooks/{target.name})\n"


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", offer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
