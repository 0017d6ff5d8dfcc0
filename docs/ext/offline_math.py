"""Formulas without the internet: MathJax and its fonts, copied from a package into the site."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

PROGRAM, FONTS = "tex-chtml.js", "output/chtml/fonts/woff-v2"


def shipped() -> Path:
    """The folder with MathJax inside the package that ships it."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "static" / "mathjax"


def copy_mathjax(app: Any, exception: Exception | None) -> None:
    """The program that sets formulas and its fonts, of the two dozen megabytes."""
    if exception is None and app.builder.format == "html":
        source, target = shipped(), Path(app.outdir) / "_static" / "mathjax"
        shutil.copytree(source / FONTS, target / FONTS, dirs_exist_ok=True)
        shutil.copy2(source / PROGRAM, target / PROGRAM)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.config.mathjax_path = f"mathjax/{PROGRAM}"
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
