"""Has the package kept its shape? Files, their lengths, imports and cycles, against the recorded limits.

    python tools/shape.py            # compare with [tool.shape] of pyproject.toml; exit 1 if a figure rose
    python tools/shape.py --print    # the figures as lines for [tool.shape]

A figure may fall and never rise; whoever raises a limit says why in the commit.
"""

import ast
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import grimp
import networkx

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "netbo"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class File:
    """What counts of one source file."""

    lines: int
    docstring_lines: int
    import_lines: int
    bodies: list[int]  # lines of each function without signature and docstring


def measure(path: Path) -> File:
    """The counts of a file."""
    text = path.read_text()
    nodes = list(ast.walk(ast.parse(text)))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    documented = [
        node.body[0]
        for node in nodes
        if isinstance(node, Function | ast.ClassDef | ast.Module) and _is_documented(node)
    ]
    return File(
        lines=len(text.splitlines()),
        docstring_lines=sum(map(_extent, documented)),
        import_lines=sum(map(_extent, imports)),
        bodies=[_body_lines(node) for node in nodes if isinstance(node, Function)],
    )


def _extent(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_documented(node: ast.AST) -> bool:
    return ast.get_docstring(node) is not None  # type: ignore[arg-type]  # narrowed by the caller


def _body_lines(node: Function) -> int:
    rest = node.body[1:] if _is_documented(node) else node.body
    return (node.end_lineno or 0) - rest[0].lineno + 1 if rest else 0


def cycles_at_run_time() -> list[list[str]]:
    """Modules that import one another in a circle, what is imported for types alone left out."""
    graph = grimp.build_graph("netbo", exclude_type_checking_imports=True)
    links = networkx.DiGraph(
        (module, imported)
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    )
    return [sorted(group) for group in networkx.strongly_connected_components(links) if len(group) > 1]


def shape() -> dict[str, float]:
    """The figures that may fall and not rise."""
    files = {path: measure(path) for path in SOURCE.rglob("*.py")}
    modules = [file for path, file in files.items() if path.name != "__init__.py"]
    bodies = [lines for file in files.values() for lines in file.bodies]
    total = sum(file.lines for file in files.values())
    return {
        "files": len(files),
        "files_in_a_folder": max(Counter(path.parent for path in files).values()),
        "median_lines": median(file.lines for file in modules),
        "longest_without_docstrings": max(file.lines - file.docstring_lines for file in modules),
        "import_percent": round(100 * sum(file.import_lines for file in files.values()) / total, 1),
        "body_p95": quantiles(bodies, n=20)[-1],
        "import_cycles": len(cycles_at_run_time()),
    }


def main() -> int:
    """Compare and say what rose."""
    found = shape()
    if "--print" in sys.argv:
        print(*(f"{name} = {value:g}" for name, value in found.items()), sep="\n")
        return 0
    limits = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["shape"]
    risen = [name for name, value in found.items() if value > limits[name]]
    for name, value in found.items():
        print(f"{name:28} {value:8g}  limit {limits[name]:8g}{'  ROSE' if name in risen else ''}")
    for group in cycles_at_run_time():
        print("cycle:", " ".join(group))
    return 1 if risen else 0


if __name__ == "__main__":
    sys.exit(main())
