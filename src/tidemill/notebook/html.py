"""Pieces of HTML for notebooks: everything that comes from outside is escaped, nothing is a script.

Colours follow the notebook, whether it is light or dark: text inherits its colour, and lines
are grey with an alpha channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import pyarrow as pa

from tidemill.terminal.tables import cell

FIRST_ROWS = 10
"""How many rows of a table are shown."""

_WIDEST = 200
"""Longer texts in cells are cut: a cell may hold a whole document."""

_STYLE = """<style>
.tidemill { color: inherit; font-size: 13px; line-height: 1.4; overflow-x: auto; }
.tidemill table { border-collapse: collapse; color: inherit; font-size: inherit;
  margin: 4px 0 8px; }
.tidemill th, .tidemill td { background: transparent; color: inherit;
  border-bottom: 1px solid rgba(128,128,128,.35); padding: 2px 10px;
  text-align: left; vertical-align: top; white-space: pre-wrap; }
.tidemill th { font-weight: 600; }
.tidemill td.number, .tidemill th.number { font-variant-numeric: tabular-nums; text-align: right; }
.tidemill pre { background: transparent; color: inherit; margin: 4px 0 8px; white-space: pre; }
.tidemill .note { opacity: .75; }
.tidemill summary { cursor: pointer; }
</style>"""


def framed(*parts: str) -> str:
    """The parts in one block, with its style."""
    return f'<div class="tidemill">{_STYLE}{"".join(parts)}</div>'


def heading(text: str, more: str = "") -> str:
    """A line in bold, and what is said beside it."""
    beside = f' <span class="note">{escape(more)}</span>' if more else ""
    return f"<div><b>{escape(text)}</b>{beside}</div>"


def note(text: str) -> str:
    """
    >>> note("a < b")
    '<div class="note">a &lt; b</div>'
    """
    return f'<div class="note">{escape(text)}</div>'


def code(text: str) -> str:
    """A text with its lines and spaces as they are."""
    return f"<pre>{escape(text)}</pre>"


def folded(title: str, body: str, is_open: bool = False) -> str:
    """A part of a page that opens when one clicks on its title."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escape(title)}</summary>{body}</details>"


def texts(rows: Sequence[Mapping[str, str]], numbers: Iterable[str] = ()) -> str:
    """A table of texts; the columns `numbers` stand to the right."""
    if not rows:
        return ""
    right = set(numbers)
    names = list(rows[0])
    head = "".join(_cell("th", name, name in right) for name in names)
    lines = ("".join(_cell("td", row[name], name in right) for name in names) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rows_of(table: pa.Table, most: int = FIRST_ROWS) -> str:
    """The first rows of a table, and how many there are."""
    if not table.num_rows:
        return note(f"no rows; columns: {', '.join(table.column_names)}")
    first = table.slice(0, most).to_pylist(maps_as_pydicts="lossy")
    rows = [{name: _shown(name, value) for name, value in row.items()} for row in first]
    shown = texts(rows, [field.name for field in table.schema if is_number(field.type)])
    total = f"{table.num_rows:,} rows" if table.num_rows != 1 else "1 row"
    rest = f"the first {most} of {total}" if table.num_rows > most else total
    return shown + note(rest)


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a type are numbers."""
    of = pa.types
    return bool(of.is_integer(kind) or of.is_floating(kind) or of.is_decimal(kind))


def _shown(name: str, value: Any) -> str:
    text = cell(name, value)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _cell(tag: str, text: str, is_right: bool) -> str:
    side = ' class="number"' if is_right else ""
    return f"<{tag}{side}>{escape(text)}</{tag}>"
