"""The page as HTML: with links to its files where a server has them, or with everything inside."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parent / "static"
MAPLIBRE = ("maplibre-gl.js", "maplibre-gl.css")
ORDER = ("dom", "network", "field", "source", "queue", "charts", "map", "crew", "manager", "app")
MODULES = tuple(f"{name}.js" for name in ORDER)  # each imports only from those before it


def maplibre_file(name: str) -> Path | None:
    """A file of MapLibre inside the package `maplibre`, found without importing it; None if missing."""
    found = find_spec("maplibre")
    folders = [] if found is None else list(found.submodule_search_locations or [])
    path = Path(folders[0]) / "srcjs" / name if folders else None
    return path if path is not None and path.is_file() else None


def shell(settings: Mapping[str, Any]) -> str:
    """The page of a server: every file by its address, nothing inline."""
    head = "".join(
        f'<link rel="stylesheet" href="{name}">\n' for name in ("maplibre/maplibre-gl.css", "static/page.css")
    )
    head += '<link rel="manifest" href="static/manifest.json">\n<link rel="icon" href="static/icon.svg">\n'
    tail = '<script src="maplibre/maplibre-gl.js"></script>\n'
    tail += '<script type="module" src="static/app.js"></script>\n'
    return _page("netbo", head, _data(settings) + tail)


def single_file(title: str, data: Mapping[str, Any], *, map_engine: bool = True) -> str:
    """The same page in one file that loads nothing; its policy names its scripts by their hashes."""
    scripts, styles = [bundle()], [(STATIC / "page.css").read_text(encoding="utf-8")]
    engine, look = (maplibre_file(name) for name in MAPLIBRE)
    if engine is not None and look is not None and map_engine:
        scripts.insert(0, _inside(engine.read_text(encoding="utf-8")))
        styles.insert(0, look.read_text(encoding="utf-8"))
    policy = (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; "
        "img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    head += "".join(f"<style>{style}</style>\n" for style in styles)
    return _page(title, head, _data(data) + "".join(f"<script>{script}</script>\n" for script in scripts))


@cache
def bundle() -> str:
    """All modules as one script: their imports and exports are names of one function."""
    parts = []
    for name in MODULES:
        text = (STATIC / name).read_text(encoding="utf-8")
        text = re.sub(r"(?ms)^import .*?;$", "", text)
        parts.append(re.sub(r"(?m)^export (?=const|let|function|async|class)", "", text))
    return _inside("(() => {\n'use strict';\n" + "\n".join(parts) + "\n})();\n")


def _inside(script: str) -> str:
    """A script that can stand between tags."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hashes(texts: list[str]) -> str:
    return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)


def _data(data: Mapping[str, Any]) -> str:
    """Data for the scripts, which a browser does not run."""
    text = json.dumps(data).replace("<", "\\u003c")
    return f'<script type="application/json" id="data">{text}</script>\n'


def _page(title: str, head: str, tail: str) -> str:
    body = (STATIC / "page.html").read_text(encoding="utf-8")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{head}'
        '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">\n'
        '<meta name="theme-color" content="#12303f">\n'
        f"<title>{escape(title)}</title>\n</head>\n<body>\n{body}{tail}</body>\n</html>\n"
    )
