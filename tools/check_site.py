"""Is the built site whole? Local links, anchors and pictures, public names, nothing loaded from elsewhere.

python tools/check_site.py docs/_build/html
"""

import importlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

import netbo

LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}  # without a click
MODULES = (
    "netbo", "netbo.acquisition", "netbo.adapters", "netbo.experiments", "netbo.fem", "netbo.geometry",
    "netbo.linalg", "netbo.optimize", "netbo.page", "netbo.plotting", "netbo.posterior", "netbo.priors",
    "netbo.problems", "netbo.studies", "netbo.testing",
)  # fmt: skip


class Page(HTMLParser):
    """Links and anchors of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what an element names and what it points to."""
        given = dict(attrs)
        self.anchors |= {given[key] or "" for key in ("id", "name") if key in given}
        self.links += [(tag, given[key] or "") for key in ("href", "src") if key in given]


@cache
def page(path: Path) -> Page:
    """A page, read once."""
    return Page(path)


def has_anchor(path: Path, fragment: str) -> bool:
    """Whether a page has what comes after the # of a link."""
    return unquote(fragment) in page(path).anchors | {"top"}


def dead_links(site: Path) -> Iterator[str]:
    """What points to a file or an anchor that is not there, or loads something from elsewhere."""
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue
        for tag, link in page(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.scheme != "data" and tag in LOADED and "canonical" not in link and tag != "link":
                    yield f"{path.relative_to(site)}: loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{path.relative_to(site)}: {link} is not there"
            elif parts.fragment and target.suffix == ".html" and not has_anchor(target, parts.fragment):
                yield f"{path.relative_to(site)}: {link} has no such anchor"


def missing_names(site: Path) -> Iterator[str]:
    """Public names that no page describes; a name of netbo counts for the modules that list it too."""
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    described = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    shown = {id(getattr(netbo, name)) for name in netbo.__all__ if f"netbo.{name}" in described}
    for module in MODULES:
        loaded = importlib.import_module(module)
        for name in loaded.__all__:
            found = getattr(loaded, name)
            homes = {f"{module}.{name}", f"{getattr(found, '__module__', module)}.{name}"}
            if id(found) not in shown and not homes & described:
                yield f"{module}.{name} is on no page"


def scripts_from_elsewhere(site: Path) -> Iterator[str]:
    """Style sheets that fetch fonts or pictures from another host."""
    for path in site.rglob("*.css"):
        for url in re.findall(r"url\(['\"]?(https?://[^)'\"]+)", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)}: loads {url}"


def main() -> int:
    """Print what is wrong, and how many pages were looked at."""
    site = Path(sys.argv[1]).resolve()
    wrong = [*dead_links(site), *missing_names(site), *scripts_from_elsewhere(site)]
    print(*wrong, sep="\n")
    names = sum(len(importlib.import_module(module).__all__) for module in MODULES)
    print(f"{len(list(site.rglob('*.html')))} pages, {names} public names: {len(wrong)} faults")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
