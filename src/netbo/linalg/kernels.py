"""The one typed decorator through which every compiled kernel passes."""

import sys
from collections.abc import Callable
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


def announce_first_compile(*kernels: Callable[..., Any]) -> None:
    """Say on standard error why the first call takes seconds, unless a compiled kernel is on disk.

    numba looks into its cache only when a kernel is called, so the index file beside it is what tells.
    """
    for function in kernels:
        dispatcher: Any = function
        cache = dispatcher._cache
        if dispatcher.signatures or not cache.cache_path:
            continue
        if not cache._cache_file._load_index():
            print(
                "netbo: compiling the numerical core, once for this machine ...", file=sys.stderr, flush=True
            )
            return
