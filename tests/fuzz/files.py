"""Hostile files under every name a reader knows: data or a sentence, and nothing else happens.

Twelve kinds of hostility, each written under every suffix and read with every format; then good files with
bytes flipped, cut, doubled and mixed. Harmless is: a network or an error of the package comes back, no module
that a file names is imported, no other file is opened (a trap beside it stays unread), nothing is written.
"""

import builtins
import io
import json
import pickle
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import networkx
import numpy as np

import netbo
from netbo.adapters.read import FORMATS, SUFFIXES
from netbo.errors import BaseError

MODULE = "netbo_trap_module"
CODE = f"__import__('{MODULE}')"
SECRET = "netbo_trap_secret.csv"
NAMES = [*sorted({*SUFFIXES, ".json", ".graphml", ".pickle", ".pkl"})]
HALVES = "[JUNCTIONS]\n\ud800 1\n[PIPES]\na \udfff b 1e400\n"
STRANGE = [b"1e400", b"nan", b"-1", b"\xff\xfe", b"\0", b"9" * 400, b"<", b"{", b"[["]
TABLE = {"_module": "pandas.core.frame", "_class": "DataFrame", "orient": "split"}


class _Evil:
    """Unpickled, it imports the trap."""

    def __reduce__(self):
        return __import__, (MODULE,)


def _xml_bomb(_: Path) -> bytes:
    levels = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12))
    head = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "ha">{levels}]>'
    return (head + "<graphml><graph><node id='&a11;'/></graph></graphml>").encode()


def _xml_file(folder: Path) -> bytes:
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{folder / SECRET}">]>'
    return f"<?xml version='1.0'?>{entity}<graphml><graph><node id='&e;'/></graph></graphml>".encode()


def _archive(_: Path) -> bytes:
    """Ten kilobytes that are ten megabytes, and a name that climbs out of its folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../netbo_escaped.shp", b"0")
        archive.writestr("streets.geojson", b" " * 10_000_000)
    return buffer.getvalue()


def _power(planted: object) -> bytes:
    net = {"_module": "pandapower.auxiliary", "_class": "pandapowerNet", "_object": {"planted": planted}}
    return json.dumps(net).encode()


def _huge_claims(_: Path) -> bytes:
    document = netbo.adapters.dump(netbo.interval(2.0))
    return json.dumps(document).replace('"<i8"', '"<U999999999"').replace("[1]", "[999999999999]").encode()


def _virtual(folder: Path) -> bytes:
    layer = f"<OGRVRTLayer name='a'><SrcDataSource>{folder / SECRET}</SrcDataSource></OGRVRTLayer>"
    return f"<OGRVRTDataSource>{layer}</OGRVRTDataSource>".encode()


def _geojson(_: Path) -> bytes:
    far = [[1e308, -1e308], [float("nan"), 1e400]]
    line = {
        "type": "Feature",
        "properties": {"\ud800": "\ud800"},
        "geometry": {"type": "LineString", "coordinates": far},
    }
    return json.dumps({"type": "FeatureCollection", "features": [line] * 3}).encode("utf-8", "surrogatepass")


HOSTILE: dict[str, Callable[[Path], bytes]] = {
    "a module to import": lambda _: _power({"_module": MODULE, "_class": "Thing", "_object": {}}),
    "a table that is a path": lambda folder: _power({**TABLE, "_object": str(folder / SECRET)}),
    "code to evaluate": lambda _: _power({"_module": "builtins", "_class": "eval", "_object": CODE}),
    "entities without end": _xml_bomb,
    "an entity that is a file": _xml_file,
    "nesting without end": lambda _: b"[" * 100_000,
    "nested objects": lambda _: b'{"type":' * 50_000,
    "huge claims": _huge_claims,
    "a pickle": lambda _: pickle.dumps(_Evil(), protocol=4),
    "an archive": _archive,
    "a virtual file": _virtual,
    "numbers and names that are none": _geojson,
    "nothing": lambda _: b"",
    "zeros": lambda _: bytes(4096),
    "a long line": lambda _: b"a," * 500_000,
    "halves of characters": lambda _: HALVES.encode("utf-8", "surrogatepass"),
}  # fmt: skip


def _good_files() -> dict[str, bytes]:
    """One small good file for the formats that text can make."""
    graph = networkx.path_graph(4)
    networkx.set_edge_attributes(graph, 1.5, "length")
    swc = "1 1 0 0 0 1 -1\n2 3 1 0 0 1 1\n3 3 2 1 0 1 2\n4 3 2 -1 0 1 2\n"
    lines = [[[9.0, 48.0], [9.01, 48.0]], [[9.01, 48.0], [9.02, 48.01]]]
    features = [
        {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": line}}
        for line in lines
    ]
    inp = (
        "[JUNCTIONS]\n J1 0 1\n J2 0 1\n[RESERVOIRS]\n R 10\n[PIPES]\n P1 R J1 100 300 100\n"
        " P2 J1 J2 50 300 100\n[COORDINATES]\n J1 0 0\n J2 1 1\n R 2 2\n[OPTIONS]\n UNITS LPS\n[END]\n"
    )
    kml = (
        "<kml xmlns='http://www.opengis.net/kml/2.2'><Document><Placemark><LineString><coordinates>"
        "9,48 9.01,48 9.02,48.01</coordinates></LineString></Placemark></Document></kml>"
    )
    return {
        ".graphml": "\n".join(networkx.generate_graphml(graph)).encode(),
        ".json": json.dumps(netbo.adapters.dump(netbo.star(3))).encode(),
        ".geojson": json.dumps({"type": "FeatureCollection", "features": features}).encode(),
        ".swc": swc.encode(),
        ".inp": inp.encode(),
        ".kml": kml.encode(),
        ".csv": b"from,to,length\na,b,1.5\nb,c,2.0\n",
    }


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes flipped, cut out, doubled, or numbers replaced by what no number should be."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        at, span = int(rng.integers(0, len(data) + 1)), int(rng.integers(1, 40))
        kind = int(rng.integers(5))
        if kind == 0 and at < len(data):
            data[at] ^= int(rng.integers(1, 256))
        elif kind == 1:
            del data[at : at + span]
        elif kind == 2:
            data[at:at] = data[at : at + span]
        elif kind == 3:
            data[at:at] = [b"1e400", b"nan", b"-1", b"\xff\xfe", b"\0", b"9" * 400, b"<", b"{", b"[["][
                int(rng.integers(9))
            ]
        else:
            data[at : at + span] = rng.integers(0, 256, span, dtype=np.uint8).tobytes()
        if not data:
            break
    return bytes(data)


@contextmanager
def _watched(folder: Path) -> Iterator[list[str]]:
    """What happens that should not, in words."""
    found: list[str] = []
    (folder / f"{MODULE}.py").write_text("")
    (folder / SECRET).write_text("from,to,length\nxyzzy,b,1.5\n")
    original = builtins.open

    def guarded(file, *args, **kwargs):
        if str(file).endswith(SECRET):
            found.append("another file was opened")
        return original(file, *args, **kwargs)

    sys.path.insert(0, str(folder))
    builtins.open = guarded
    try:
        yield found
    finally:
        builtins.open = original
        sys.path.remove(str(folder))
        if sys.modules.pop(MODULE, None) is not None:
            found.append("a module was imported")


def judge(path: Path, format: str | None) -> str | None:  # noqa: A002 - as read has it
    """What was wrong with reading a file; None if nothing was."""
    before = {each for each in path.parent.rglob("*") if each.suffix not in (".pyc",)}
    problem = None
    with _watched(path.parent) as found:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                network = netbo.read(path, format=format)
            if "xyzzy" in repr(network.graph.vertex_ids):
                found.append("another file was read")
        except BaseError:
            pass
        except Exception as error:  # the very thing that is looked for
            problem = f"{type(error).__name__}: {str(error)[:100]}"
    known = {path.parent / f"{MODULE}.py", path.parent / SECRET}
    after = {each for each in path.parent.rglob("*") if each.suffix not in (".pyc",)}
    if {each for each in after - before - known if each.name != "__pycache__"}:
        found.append("something was written")
    problem = problem or "; ".join(found)
    return f"{path.name} as {format}: {problem}" if problem else None


def wrong_files(n: int, seed: int, names: int = len(NAMES)) -> list[str]:
    """Every hostile file under some names and formats, and n damaged good ones; what was not harmless."""
    rng = np.random.default_rng(seed)
    wrong, good = [], _good_files()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (kind, content) in enumerate(HOSTILE.items()):
            body = content(folder)
            for suffix in rng.permutation(NAMES)[:names]:
                path = folder / f"hostile{number}{suffix}"
                path.write_bytes(body)
                for format in (None, FORMATS[int(rng.integers(len(FORMATS)))]):  # noqa: A001
                    found = judge(path, format)
                    wrong += [] if found is None else [f"{kind}: {found}"]
                path.unlink()
        for case in range(n):
            suffix = sorted(good)[case % len(good)]
            path = folder / f"damaged{case}{suffix}"
            path.write_bytes(_damaged(good[suffix], rng))
            found = judge(path, None)
            wrong += [] if found is None else [f"case {case} of seed {seed}: {found}"]
            path.unlink()
    return wrong


def fuzz(n: int = 1_000, seed: int = 0) -> dict[str, object]:
    """The long form: how many files, and those that were not harmless."""
    return {"hostile": len(HOSTILE), "damaged": n, "seed": seed, "wrong": wrong_files(n, seed)}
