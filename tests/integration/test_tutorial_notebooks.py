"""The notebooks of the tutorial, from top to bottom in a real kernel each."""

import runpy
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
PAGES = sorted(page.stem for page in (ROOT / "docs" / "tutorial").glob("*.md") if page.stem != "README")


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """Files by the names of their pages."""
    tool = runpy.run_path(str(ROOT / "tools" / "notebooks.py"))
    return {path.stem: path for path in tool["write_notebooks"](tmp_path_factory.mktemp("notebooks"))}


def test_every_page_of_the_tutorial_is_a_notebook(notebooks):
    assert sorted(notebooks) == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_of_the_tutorial_runs_from_top_to_bottom(name, notebooks):
    """Code in cells of their own, no link that leads nowhere, and no cell that fails."""
    notebook = nbformat.read(notebooks[name], as_version=4)
    nbformat.validate(notebook)
    place = {"metadata": {"path": str(notebooks[name].parent)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    text = "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")

    assert len(code) >= 4
    assert all(cell.execution_count for cell in code)
    assert "```" not in text
    assert ".md)" not in text
