import doctest
import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).parents[2]


def blocks(page, language):
    """Fenced blocks of one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_readme_runs(capsys):
    (example,) = blocks(ROOT / "README.md", "python")
    exec(compile(example, "README.md", "exec"), {})

    assert re.match(r"main [\d.]+ km: \[1\.\d+\] ± \[0\.\d+\]", capsys.readouterr().out)


def test_the_pages_print_what_they_show():
    page = ROOT / "docs" / "model.md"
    text = "\n".join(blocks(page, "pycon"))
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    outcome = doctest.DocTestRunner(verbose=False).run(examples)
    plt.close("all")

    assert outcome.attempted > 10
    assert outcome.failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/model.md", "docs/notation.md", "CHANGELOG.md"])
def test_links_of_the_pages_lead_somewhere(page):
    path = ROOT / page
    targets = re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8"))

    for target in targets:
        assert (path.parent / target).exists(), target


def test_changelog_fragments_are_named_and_short():
    fragments = list((ROOT / "changelog.d").glob("*"))

    for fragment in fragments:
        assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", fragment.name)
        assert 0 < len(fragment.read_text(encoding="utf-8").strip().splitlines()) <= 2
