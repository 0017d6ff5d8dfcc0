"""The one typed decorator through which every compiled kernel passes."""

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# No `reassoc`: row sums only keep their digits if differences are taken in the order written.
FAST_MATH = {"contract", "nsz", "arcp"}


def kernel(function: Function) -> Function:
    """Compile for the machine at first call, cache on disk, release the interpreter lock while running."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST_MATH)(function)
    return cast(Function, compiled)


def inline(function: Function) -> Function:
    """Compile into the body of every kernel that calls it: blocks then stay in registers."""
    compiled = numba.njit(nogil=True, error_model="numpy", fastmath=FAST_MATH, forceinline=True)(function)
    return cast(Function, compiled)


@cache
def announce_first_compile(function: Callable[..., Any], order: int) -> None:
    """Say on standard error, once, why the next call takes seconds: no kernel for this p is on disk.

    numba looks into its cache only when a kernel is called; the keys of its index are the types of the
    arguments, of which the last is the block that tells p.
    """
    dispatcher: Any = function
    compiled = [*dispatcher.signatures, *(key[0] for key in dispatcher._cache._cache_file._load_index())]
    if not any(len(arguments[-1]) == order**2 for arguments in compiled):
        print(
            f"netbo: compiling the numerical core for 2 alpha = {order}, once for this machine ...",
            file=sys.stderr,
            flush=True,
        )
