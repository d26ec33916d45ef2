"""Functions that are compiled, once for all processes where there is a place to keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit, typeof

# Nothing is allocated, so nobody must count references; a division by zero is no error.
_PLAIN: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}

_Function = TypeVar("_Function", bound=Callable[..., Any])


def part(function: _Function) -> _Function:
    """A function that becomes part of the compiled functions that call it."""
    return cast(_Function, njit(function, **_PLAIN, no_cpython_wrapper=True, no_cfunc_wrapper=True))


def compiled_for(*examples: Any) -> Callable[[_Function], _Function]:
    """A function for arguments of the types of these examples, ready to be called.

    The machine code is kept beside the source, or where numba keeps it for the user. Where
    nothing can be written, every process compiles for itself.
    """
    signature = tuple(map(typeof, examples))

    def compile_it(function: _Function) -> _Function:
        try:
            return cast(_Function, njit(signature, cache=True, **_PLAIN)(function))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            return cast(_Function, njit(signature, **_PLAIN)(function))

    return compile_it
