"""Functions that are compiled, once for all processes where there is a place to keep them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any, TypeVar, cast
from zlib import crc32

import numpy as np
from numba import njit, typeof
from numpy.typing import NDArray

# Nothing is allocated, so nobody must count references; a division by zero is no error.
_OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}

_Function = TypeVar("_Function", bound=Callable[..., Any])


def part(function: _Function) -> _Function:
    """A function that becomes part of the compiled functions that call it."""
    options = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(_Function, njit(**options)(function))


def compiled_for(*examples: Any) -> Callable[[_Function], _Function]:
    """A function for arguments of the types of these examples, ready to be called.

    The machine code is kept beside the source, or where numba keeps it for the user. Where
    nothing can be written, every process compiles for itself.
    """
    signature = tuple(map(typeof, examples))

    def compile_it(function: _Function) -> _Function:
        try:
            return _kept(signature, function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            return cast(_Function, njit(signature, **_OPTIONS)(function))

    return compile_it


def _kept(signature: tuple[Any, ...], function: _Function) -> _Function:
    try:
        return cast(_Function, njit(signature, cache=True, **_OPTIONS)(function))
    except (AttributeError, ImportError):
        # What is kept is of another version of Tidemill, in which classes had other names: numba
        # looks whether it is out of date only after it has read it.
        njit(cache=True, **_OPTIONS)(function)._cache.flush()
        return cast(_Function, njit(signature, cache=True, **_OPTIONS)(function))


def fixed(array: NDArray[Any]) -> NDArray[Any]:
    """An array as compiled functions take those that they only read.

    To them, arrays that may be written to are of another type. Those of frames may not.
    """
    if not array.flags.writeable and array.flags.c_contiguous:
        return array
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def source_of(package: str) -> int:
    """A number that changes with the text of any module of a package."""
    modules = (module for module in files(package).iterdir() if module.name.endswith(".py"))
    texts = (module.read_bytes() for module in sorted(modules, key=lambda module: module.name))
    return crc32(b"".join(texts))
