import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "notation.md"


def rows():
    """Name and module of every row of the tables."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("symbol", "---"):
            symbol, _, name, module, label = cells
            yield pytest.param(name.strip("`"), module.strip("`"), label, id=symbol)


def resolve(module, name):
    """What a dotted name stands for; fields without defaults exist as annotations only."""
    value = import_module(module)
    for part in name.split("."):
        fields = {key for each in getattr(value, "__mro__", ()) for key in inspect.get_annotations(each)}
        if not hasattr(value, part):
            assert part in fields, f"{module} has no {name}"
            return None
        value = getattr(value, part)
    return value


@pytest.mark.parametrize(("name", "module", "label"), list(rows()))
def test_every_name_of_the_notation_exists(name, module, label):
    dotted, parameter = re.fullmatch(r"([\w.]+)(?:\((\w+)\))?", name).groups()
    value = resolve(module, dotted)

    assert parameter is None or parameter in inspect.signature(value).parameters
    assert label == "-" or re.fullmatch(r"`[^`]+`(, `[^`]+`)*", label)
