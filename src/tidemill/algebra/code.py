"""What tells functions of users apart, also in another process or at another time."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

_PLAIN = (bool, int, float, str, bytes, type(None))


def code_version(*calls: Callable[..., Any]) -> str:
    """A version that follows from what functions do: their code, and the plain values in it.

    >>> code_version(lambda x: x / 2) == code_version(lambda x: x / 3)
    False
    """
    digest = hashlib.sha256("\n".join(map(_text, calls)).encode())
    return f"code {digest.hexdigest()[:16]}"


def _text(call: Callable[..., Any]) -> str:
    """What a function does, as text; of one that is not written in Python, its name."""
    function = inspect.unwrap(call)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        name = getattr(call, "__qualname__", type(call).__qualname__)
        return f"{getattr(call, '__module__', '')}.{name}"
    cells = getattr(function, "__closure__", None) or ()
    values = [*(getattr(function, "__defaults__", None) or ()), *(c.cell_contents for c in cells)]
    return repr((_of_code(code), [_value(value) for value in values]))


def _of_code(code: CodeType) -> str:
    constants = [_of_code(c) if isinstance(c, CodeType) else _value(c) for c in code.co_consts]
    return repr((code.co_code.hex(), code.co_names, code.co_argcount, constants))


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return repr([_value(each) for each in value])
    if isinstance(value, frozenset):
        return repr(sorted(_value(each) for each in value))
    # Others may look different in every process.
    return repr(value) if isinstance(value, _PLAIN) else type(value).__qualname__
