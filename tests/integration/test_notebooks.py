"""The notebooks that the site offers, of examples and of the tutorial, run in a real kernel."""

import re
import runpy
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from sphinx_gallery.notebook import python_to_jupyter_cli

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
QUICK = {"02_find_the_leak.py"}
PAGES = sorted(path for path in (ROOT / "docs" / "tutorial").glob("*.md") if path.name != "README.md")
NOTEBOOKS = runpy.run_path(str(ROOT / "docs" / "ext" / "notebooks.py"))


def executed(notebook, folder):
    """The notebook after every cell ran, in a folder of its own; an exception of a cell is one here."""
    resources = {"metadata": {"path": str(folder)}}
    return NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()


def outputs(notebook):
    return [each for cell in notebook.cells if cell.cell_type == "code" for each in cell.outputs]


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in EXAMPLES]
)
def test_the_notebook_of_an_example_runs_prints_and_draws(name, tmp_path):
    """Made by the program that makes the downloads of the gallery."""
    shutil.copy(ROOT / "examples" / name, tmp_path)
    python_to_jupyter_cli([str(tmp_path / name)])
    notebook = executed(nbformat.read(tmp_path / f"{Path(name).stem}.ipynb", as_version=4), tmp_path)
    shown = outputs(notebook)

    assert notebook.cells[0].source.startswith("\n# ")
    assert any(each.output_type == "stream" and each.text.strip() for each in shown)
    assert any("image/png" in each.get("data", {}) for each in shown)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_notebook_of_a_page_of_the_tutorial_runs(page, tmp_path):
    notebook = nbformat.from_dict(NOTEBOOKS["as_notebook"](page.read_text(encoding="utf-8")))
    nbformat.validate(notebook)

    cells = executed(notebook, tmp_path).cells

    assert all(cell.execution_count for cell in cells if cell.cell_type == "code")
    assert sum(cell.cell_type == "code" for cell in cells) >= 3
    assert not [cell for cell in cells if cell.cell_type == "markdown" and ".md)" in cell.source]


def test_a_page_becomes_text_and_code_in_its_order():
    page = (
        "# [Title](title.md)\n\n```python\nx = 1\n```\n\nMore.\n\n```\nshell\n```\n\n```python\nx += 1\n```\n"
    )
    notebook = nbformat.from_dict(NOTEBOOKS["as_notebook"](page))
    nbformat.validate(notebook)

    assert notebook.cells[0].source == "# Title"
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "markdown", "code"]
    assert notebook.cells[1].source == "x = 1"
    assert re.search(r"More\.\n\n```\nshell", notebook.cells[2].source)
