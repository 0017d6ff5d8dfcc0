"""Puts pages into sections, so that the pages themselves stay plain Markdown."""

import re
from pathlib import Path
from typing import Any

TOP = {
    "Guides": "guides/README",
    "Tutorial": "tutorial/README",
    "How to": "howto/README",
    "Examples": "gallery/index",
    "Reference": "reference/README",
    "Evidence": "leaderboard",
    "Theory": "theory/README",
}
SECTIONS = {  # page that opens a section: the pages of the section
    "guides/README": ["guides/*"],
    "tutorial/README": ["tutorial/*"],
    "howto/README": ["howto/*", "coming-from/*"],
    "reference/README": [
        "reference/*", "glossary", "optimizer", "model", "studies", "page", "compare", "botorch", "security",
        "notation", "architecture",
    ],
    "leaderboard": ["benchmarks", "demo", "results", "results/*/report"],
    "theory/README": ["theory/*"],
}  # fmt: skip


def pages_of(page: str, source: str, docs: Path) -> list[str]:
    """The pages of a section: in the order in which its first page links to them, then the others."""
    linked = [f"{Path(page).parent}/{name}" for name in re.findall(r"\]\(([\w-]+)\.md\)", source)]
    found = [
        path.relative_to(docs).with_suffix("").as_posix()
        for pattern in SECTIONS[page]
        for path in sorted(docs.glob(f"{pattern}.md"))
    ]
    order = {name: number for number, name in reversed([*enumerate(linked)])}
    return sorted((name for name in found if name != page), key=lambda name: order.get(name, len(linked)))


def add_toctree(app: Any, page: str, source: list[str]) -> None:
    """A hidden table of contents at the end of a page that opens a section."""
    docs = Path(app.srcdir)
    if page == "index":
        entries = [f"{title} </{name}>" for title, name in TOP.items() if app.env.doc2path(name).exists()]
    elif page in SECTIONS:
        entries = [f"/{name}" for name in pages_of(page, source[0], docs)]
    else:
        return
    listed = "\n".join(entries)
    source[0] += f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", add_toctree)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
