"""A function named as module:function, found where the user stands."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from netbo.errors import ParameterError


def load_objective(name: str) -> Callable[..., Any]:
    """The function; its module is looked for in the current folder first, then among installed packages."""
    module_name, is_split, attribute = name.partition(":")
    if not (is_split and module_name and attribute):
        raise ParameterError(
            f"--objective must be module:function, got {name!r}; try --objective leak:misfit"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name != module_name.partition(".")[0]:
            raise  # the module is there, and needs something that is not: its own message says what
        raise ParameterError(
            f"--objective must name a module that can be imported, got {module_name!r}, and there is none in "
            f"{here}; run from the folder of {module_name}.py"
        ) from missing
    for part in attribute.split("."):
        if not hasattr(found, part):
            there = [each for each in vars(found) if callable(getattr(found, each)) and each[0] != "_"]
            raise ParameterError(
                f"--objective must name a function of {module_name}, got {attribute!r}; there are "
                f"{', '.join(there) or 'none'}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise ParameterError(f"--objective must be a function, got {name}, a {type(found).__name__}")
    return found  # type: ignore[no-any-return]
