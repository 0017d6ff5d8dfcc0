"""Tutorial, how-tos and pages for those who come from elsewhere: every block runs, every link leads."""

import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import optuna
import pytest

from netbo import errors
from netbo.optional import MissingPackageError

ROOT = Path(__file__).parents[2]
FOLDERS = ["tutorial", "howto", "coming-from"]
PAGES = sorted(page for folder in FOLDERS for page in (ROOT / "docs" / folder).glob("*.md"))
WITHOUT_CODE = [ROOT / "docs" / name for name in ("architecture.md", "glossary.md", "page.md", "security.md")]


def name_of(page):
    return f"{page.parent.name}/{page.name}"


def python_of(page):
    """The page as one program: its blocks at their own lines, so that a failure names the line."""
    lines, is_code = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        is_code = is_code and line != "```"
        lines.append(line if is_code else "")
        is_code = is_code or line == "```python"
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "README.md"], ids=name_of)
def test_the_blocks_of_a_page_run_and_check_what_they_say(page, tmp_path, monkeypatch):
    """In order, in an empty folder, as one program; a page without an assertion would show nothing."""
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    verbosity = optuna.logging.get_verbosity()
    program = python_of(page)
    exec(compile(program, str(page), "exec"), {"__name__": "page"})
    plt.close("all")
    optuna.logging.set_verbosity(verbosity)

    assert len(re.findall(r"(?m)^\s*assert ", program)) >= (6 if page.parent.name == "tutorial" else 2)


@pytest.mark.parametrize("page", PAGES + WITHOUT_CODE, ids=name_of)
def test_links_and_programs_of_a_page_exist(page):
    """A page that names a file has the file."""
    text = page.read_text(encoding="utf-8")

    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for path in re.findall(r"`((?:examples|tests|benchmarks|docs)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_index_names_every_page(folder):
    index = (ROOT / "docs" / folder / "README.md").read_text(encoding="utf-8")

    for page in (ROOT / "docs" / folder).glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name


def test_every_error_and_warning_is_explained():
    page = (ROOT / "docs" / "howto" / "errors.md").read_text(encoding="utf-8")
    classes = [each for each in vars(errors).values() if isinstance(each, type)]

    assert len(classes) > 10
    for each in [*classes, MissingPackageError]:
        assert f"`{each.__name__}`" in page or f"`netbo.errors.{each.__name__}`" in page, each
