"""What the page and the docstrings show, and what is said where the packages are missing."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

from netbo.integrations.botorch import model, tensors
from support.printed_pages import UpToLastDigits

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "botorch.md"


def test_the_page_prints_what_it_shows():
    text = "\n".join(
        re.findall(r"^```pycon\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    )
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    outcome = doctest.DocTestRunner(UpToLastDigits(), verbose=False).run(examples)

    assert outcome.attempted > 15
    assert outcome.failed == 0


def test_links_of_the_page_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", PAGE.read_text(encoding="utf-8")):
        assert (PAGE.parent / target).exists(), target


@pytest.mark.parametrize("module", [model, tensors])
def test_docstrings_print_what_they_show(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("missing", ["torch", "botorch.models"])
def test_a_missing_package_names_the_extra(missing):
    script = f"import sys; sys.modules[{missing!r}] = None; import netbo.integrations.botorch"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert run.returncode == 1
    assert f"MissingPackageError: a BoTorch model needs {missing}" in run.stderr
    assert "pip install 'botorch>=" in run.stderr


def test_nothing_else_in_netbo_loads_torch():
    script = (
        "import sys, pkgutil, importlib, netbo\n"
        "for each in pkgutil.iter_modules(netbo.__path__):\n"
        "    if each.name != '__main__': importlib.import_module('netbo.' + each.name)\n"
        "assert 'netbo.integrations' in sys.modules\n"
        "assert not {'torch', 'botorch', 'gpytorch', 'linear_operator'} & set(sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
