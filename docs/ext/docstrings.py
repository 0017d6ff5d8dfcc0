"""Docstrings are prose with formulas; here they become what Sphinx reads, each name on one page only."""

import inspect
import re
from importlib import import_module
from typing import Any

import netbo

ARGUMENT = re.compile(r"^([a-z_]\w*(?:, [a-z_]\w*)*): (.*)")  # "places: where a path may be larger"
SHOWN_AT_THE_TOP = {id(getattr(netbo, name)) for name in netbo.__all__}


def escape(line: str) -> str:
    """A line with its bars as bars: |I + K| is a determinant, not a substitution."""
    parts = line.split("``")
    return "``".join(part if i % 2 else part.replace("|", "\\|") for i, part in enumerate(parts))


def listed(lines: list[str]) -> list[str]:
    """Lines with arguments that are told in prose as items of a list."""
    out: list[str] = []
    inside = False
    for line in lines:
        found = ARGUMENT.match(line)
        if found:
            if not inside and out and out[-1].strip():
                out.append("")
            out.append(f"- ``{found[1]}``: {found[2]}")
            inside = True
        elif inside and line.startswith(" "):
            out.append(f"  {line.strip()}")
        else:
            if inside and line.strip():
                out.append("")
            inside = False
            out.append(line)
    return out


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite one docstring before its sections are read."""
    if lines and what in {"property", "attribute"}:
        lines[0] = lines[0].replace(": ", " – ", 1)  # napoleon would take what is before a colon for a type
    is_code = [line.lstrip().startswith((">>>", "...")) for line in lines]
    lines[:] = listed([line if code else escape(line) for line, code in zip(lines, is_code, strict=True)])


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Names that have a page of their own are not repeated on the page of their module."""
    if what == "module" and id(obj) in SHOWN_AT_THE_TOP:
        return True
    return None


class Constants(dict[str, list[tuple[str, bool]]]):
    """Public names of a module that are neither classes nor functions; whether to print their values."""

    def get(self, name: str, default: Any = None) -> Any:
        """Constants and types of one module."""
        module = import_module(name)
        return [
            (each, isinstance(found, int | float))
            for each in getattr(module, "__all__", ())
            if id(found := getattr(module, each)) not in SHOWN_AT_THE_TOP
            and not (inspect.isclass(found) or inspect.isroutine(found))
        ]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.config.autosummary_context = {"constants": Constants()}
    app.connect("autodoc-process-docstring", process, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
