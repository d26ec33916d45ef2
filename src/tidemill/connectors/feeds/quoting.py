"""Quotes in CSV files: where values begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tidemill.connectors.feeds.columns import Unreadable
from tidemill.connectors.feeds.options import Dialect

_NEW_LINE = ord("\n")


def is_plain(body: bytes, how: Dialect) -> bool:
    """Whether all quotes enclose a value as a whole, so that nobody reads them in another way."""
    quote = how.quote.encode()
    if not quote or quote not in body:
        return True
    if not how.quote.isascii() or not how.separator.isascii():
        return False
    escape = how.escape.encode()
    if escape and (escape + quote in body or escape * 2 in body):
        return False
    return _encloses(np.frombuffer(b"\n%b\n" % body, np.uint8), how)


def _encloses(letters: np.ndarray[tuple[int], np.dtype[np.uint8]], how: Dialect) -> bool:
    """Whether every other quote begins a value, and the next one ends it.

    There is the end of a line before the first letter and behind the last.
    """
    places = np.flatnonzero(letters == ord(how.quote))
    if len(places) % 2:
        return False
    opening, closing = places[::2], places[1::2]
    begins, ends = _is_border(letters[opening - 1], how), _is_border(letters[closing + 1], how)
    if not how.escape:  # a quote that is doubled ends a value and begins it again
        doubled = opening[1:] == closing[:-1] + 1
        begins[1:] |= doubled
        ends[:-1] |= doubled
    if not (begins.all() and ends.all()):
        return False
    if how.multi_line:
        return True
    lines = np.flatnonzero(letters == _NEW_LINE)
    return not (np.searchsorted(places, lines) & 1).any()


def _is_border(
    letters: np.ndarray[tuple[int], np.dtype[np.uint8]], how: Dialect
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray((letters == _NEW_LINE) | (letters == ord(how.separator)))


def fields_of(text: str, how: Dialect) -> Iterator[list[str | None]]:
    """The values of each line; one that is empty without quotes is None.

    >>> from tidemill.connectors.feeds.options import dialect
    >>> list(fields_of('5" disk,"a, b"', dialect({})))
    [['5" disk', 'a, b']]
    """
    pattern, place, end = _pattern(how), 0, len(text)
    row: list[str | None] = []
    while place < end or row:
        match = pattern.match(text, place)
        if match is None:
            raise _odd(text, place, how)
        row.append(_value(match, how))
        place = match.end()
        if match["next"] != how.separator:
            if row != [None]:  # blank lines are none
                yield row
            row = []


def _value(match: re.Match[str], how: Dialect) -> str | None:
    quoted = match["quoted"]
    if quoted is None:
        return match["plain"] or None
    if not how.escape:
        return quoted.replace(how.quote * 2, how.quote)
    escape = re.escape(how.escape)
    return re.sub(f"{escape}([{re.escape(how.quote)}{escape}])", r"\1", quoted)


def _pattern(how: Dialect) -> re.Pattern[str]:
    separator, quote, escape = map(re.escape, (how.separator, how.quote, how.escape))
    rest = f"(?:(?!{separator})[^\\n])*+" if len(how.separator) > 1 else f"[^{separator}\\n]*+"
    end = rf"(?P<next>{separator}|\n|\Z)"
    if not quote:
        return re.compile(f"(?P<quoted>(?!))?(?P<plain>{rest}){end}")
    line = "" if how.multi_line else r"\n"
    inner = rf"[^{quote}{line}]|{quote}{quote}"
    if how.escape:
        letter = "(?s:.)" if how.multi_line else "."
        inner = rf"[^{quote}{escape}{line}]|{escape}{letter}"
    quoted = f"{quote}(?P<quoted>(?:{inner})*+){quote}"
    return re.compile(f"(?:{quoted}|(?!{quote})(?P<plain>{rest})){end}")


def _odd(text: str, place: int, how: Dialect) -> Unreadable:
    number = text.count("\n", 0, place) + 1
    shown = text[place : place + 40].partition("\n")[0]
    hint = f"if quotes are doubled: escape => '{how.quote}'" if how.escape else "one quote is wrong"
    return Unreadable(f"row {number}: no value in quotes is {shown!r} ({hint})")
