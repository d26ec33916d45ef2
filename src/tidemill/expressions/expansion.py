"""How large an expression becomes when DuckDB has put the macros of the library in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

LIBRARY: Final = Path(__file__).with_name("library.sql").read_text("utf-8")

_MOST: Final = 100_000
"""Parts that DuckDB binds in well under a second."""

_IN_LAMBDA: Final = 6
"""How many times DuckDB binds what is in a lambda."""

_TOKEN: Final = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[A-Za-z_]\w*(?=\()|[A-Za-z_]\w*|[(\[{]|[)\]}]|,|[^\s\w]|\w+"
)
_MACRO: Final = re.compile(
    r"CREATE MACRO (\w+)\(([^)]*)\) AS \((.*?)\n?\);$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class _Macro:
    """The parts of its own that a macro has, and how often each argument occurs in them."""

    parts: int
    uses: tuple[int, ...]


def is_too_large(text: str) -> bool:
    """Whether binding the text of an expression would take DuckDB longer than anyone waits.

    >>> is_too_large('spark_upper("b")'), is_too_large("spark_upper(" * 20 + '"b"' + ")" * 20)
    (False, True)
    """
    return sum(times for _, times in _counted(text, _macros())) > _MOST


@cache
def _macros() -> Mapping[str, _Macro]:
    known: dict[str, _Macro] = {}
    for name, parameters, body in _MACRO.findall(LIBRARY):
        names = [each.strip() for each in parameters.split(",")]
        # A macro of the library uses those before it only.
        found = list(_counted(body, known))
        uses = tuple(sum(times for token, times in found if token == each) for each in names)
        known[name] = _Macro(sum(times for _, times in found), uses)
    return known


def _counted(text: str, macros: Mapping[str, _Macro]) -> Iterator[tuple[str, int]]:
    """The parts of a text, and how often each of them occurs when macros are put in."""
    open_calls: list[tuple[_Macro | None, int, int]] = [(None, 0, 1)]  # macro, argument, times
    called: _Macro | None = None
    for token in _TOKEN.findall(text):
        macro, argument, times = open_calls[-1]
        factor = times * (macro.uses[min(argument, len(macro.uses) - 1)] if macro else 1)
        if token in ("(", "[", "{"):
            open_calls.append((called, 0, factor))
            called = None
            continue
        if token in (")", "]", "}") and len(open_calls) > 1:
            open_calls.pop()
        elif token == ",":
            open_calls[-1] = (macro, argument + 1, times)
        elif token == "lambda":
            open_calls[-1] = (macro, argument, times * _IN_LAMBDA)
        called = macros.get(token)
        yield token, factor * (called.parts if called else 1)
