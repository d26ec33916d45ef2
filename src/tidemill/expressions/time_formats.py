"""Patterns of dates and times: Java's letters, which the parser made those of strftime."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from tidemill.expressions.translate import constant_text
from tidemill.expressions.typed import NotSupported, quoted_text

# What the parser makes of a letter: how DuckDB writes it, how it looks, and how DuckDB reads it.
_LETTERS: Final = {
    "%Y": ("%Y", "[0-9]{4}", "%Y"),
    "%mstrict": ("%m", "[0-9]{2}", "%m"),
    "%m": ("%-m", "[0-9]{1,2}", "%m"),
    "%-m": ("%-m", "[0-9]{1,2}", "%m"),
    "%dstrict": ("%d", "[0-9]{2}", "%d"),
    "%d": ("%-d", "[0-9]{1,2}", "%d"),
    "%-d": ("%-d", "[0-9]{1,2}", "%d"),
    "%Hstrict": ("%H", "[0-9]{2}", "%H"),
    "%H": ("%-H", "[0-9]{1,2}", "%H"),
    "%-H": ("%-H", "[0-9]{1,2}", "%H"),
    "%Mstrict": ("%M", "[0-9]{2}", "%M"),
    "%M": ("%-M", "[0-9]{1,2}", "%M"),
    "%-M": ("%-M", "[0-9]{1,2}", "%M"),
    "%Sstrict": ("%S", "[0-9]{2}", "%S"),
    "%S": ("%-S", "[0-9]{1,2}", "%S"),
    "%-S": ("%-S", "[0-9]{1,2}", "%S"),
    "%Istrict": ("%I", None, None),
    "%I": ("%-I", None, None),
    "%-I": ("%-I", None, None),
    "%p": ("%p", None, None),
    "%a": ("%a", None, None),
    "%A": ("%A", None, None),
    "%b": ("%b", None, None),
    "%B": ("%B", None, None),
    "%y": ("%y", None, None),
}
_LETTER: Final = re.compile(r"%-?[A-Za-z](?:strict)?")
_HELP: Final = "use yyyy, MM, dd, HH, mm and ss, or take the parts with YEAR(...), MONTH(...), ..."


def written(time: str, layout: exp.Expr) -> str:
    """The text that writes a time in a pattern.

    >>> written("t", exp.Literal.string("%Y-%mstrict"))
    "strftime(t, '%Y-%m')"
    """
    text = "".join(_part(part, 0, layout) for part in _parts(layout))
    return f"strftime({time}, {quoted_text(text)})"


def parsed(sql: str, layout: exp.Expr) -> str:
    """The text that reads a time in a pattern; what does not look like it is an error."""
    parts = _parts(layout)
    shape = "".join(_part(part, 1, layout) for part in parts)
    reading = "".join(_part(part, 2, layout) for part in parts)
    fits = f"{sql} IS NULL OR regexp_full_match({sql}, {quoted_text(shape)})"
    wrong = f"error('a time does not look like its pattern: ' || {sql})"
    return f"strptime(CASE WHEN {fits} THEN {sql} ELSE {wrong} END, {quoted_text(reading)})"


def _parts(layout: exp.Expr) -> list[str]:
    """Letters of strftime, and what stands between them."""
    text = constant_text(layout, "the pattern")
    return [part for part in re.split(f"({_LETTER.pattern})", text) if part]


def _part(part: str, column: int, layout: exp.Expr) -> str:
    if part in _LETTERS:
        found = _LETTERS[part][column]
        if found is not None:
            return found
    elif not re.search("['\\[\\]#{}A-Za-z%]", part):
        return re.escape(part) if column == 1 else part
    elif re.fullmatch(r"[^'A-Za-z]*'[^'%]+'[^'A-Za-z]*", part):  # 'T' in quotes is itself
        plain = part.replace("'", "")
        return re.escape(plain) if column == 1 else plain
    raise NotSupported("this pattern of a time", layout, _HELP)
