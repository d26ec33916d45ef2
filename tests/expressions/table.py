"""The table of expressions: `table.sql`, written out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
_CHOICE = re.compile(r"\{([^{}]*)\}")
# What braces could not hold: written {pipe}, {lb} and {rb}.
_SIGNS = {"{pipe}": ("\x01", "|"), "{lb}": ("\x02", "{"), "{rb}": ("\x03", "}")}


@cache
def groups() -> dict[str, tuple[str, ...]]:
    """The expressions under each heading of the table.

    >>> groups()["literals"][:2]
    ('1', '-1')
    """
    found: dict[str, list[str]] = {}
    heading = ""
    for line in (HERE / "table.sql").read_text("utf-8").splitlines():
        if line.startswith("-- "):
            heading = line.removeprefix("-- ")
        elif line and not line.startswith("---"):
            found.setdefault(heading, []).extend(spread(line))
    return {heading: tuple(dict.fromkeys(texts)) for heading, texts in found.items()}


def expressions() -> tuple[str, ...]:
    """Every expression of the table, once."""
    return tuple(dict.fromkeys(text for texts in groups().values() for text in texts))


def spread(line: str) -> Iterator[str]:
    """The expressions that a line stands for.

    >>> list(spread("f({a|b}, 1)"))
    ['f(a, 1)', 'f(b, 1)']
    >>> list(spread("a {pipe}{pipe} {b|c}"))
    ['a || b', 'a || c']
    """
    for name, (hidden, _) in _SIGNS.items():
        line = line.replace(name, hidden)
    for text in _spread(line):
        yield _plain(text)


def _spread(line: str) -> Iterator[str]:
    found = _CHOICE.search(line)
    if found is None:
        yield line
        return
    for choice in found[1].split("|"):
        yield from _spread(line[: found.start()] + choice + line[found.end() :])


def _plain(text: str) -> str:
    for hidden, sign in _SIGNS.values():
        text = text.replace(hidden, sign)
    return text
