"""Names of tables and what belongs to them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from psycopg import sql

from tidemill.errors import ExecutionError

_PART = r'"(?:[^"]|"")+"|[^".]+'
_NAME = re.compile(rf"(?:({_PART})\.)?({_PART})")

LONGEST = 50
"""Bytes of the name of a log: PostgreSQL cuts names at 63, and triggers take theirs from it."""


@dataclass(frozen=True)
class TableName:
    """A table, perhaps with its schema. Names mean what they say: upper case stays upper case.

    >>> TableName.parse("app.Orders"), TableName.parse('"a.b"')
    (TableName(schema='app', name='Orders'), TableName(schema=None, name='a.b'))
    """

    schema: str | None
    name: str

    @staticmethod
    def parse(text: str) -> TableName:
        """Read a name as options give it; quotes are needed where a part has a dot."""
        if (match := _NAME.fullmatch(text)) is None:
            help = "as in 'orders', 'app.orders' or '\"with.dot\"'"
            raise ExecutionError(f"`{text}` is not the name of a table", help=help)
        schema, name = (_unquoted(part) for part in match.groups())
        return TableName(schema, name or "")

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier(*filter(None, (self.schema, self.name)))

    @property
    def quoted(self) -> str:
        """The name as SQL writes it."""
        return ".".join(_quoted(part) for part in (self.schema, self.name) if part)

    def log(self) -> TableName:
        """Where the changes of the table are kept, unless somebody said otherwise."""
        return TableName(self.schema, _short(f"tidemill_log_{self.name}"))

    def __str__(self) -> str:
        return ".".join(filter(None, (self.schema, self.name)))


def _unquoted(part: str | None) -> str | None:
    if part is None or not part.startswith('"'):
        return part
    return part[1:-1].replace('""', '"')


def _quoted(part: str) -> str:
    doubled = part.replace('"', '""')
    return f'"{doubled}"'


def _short(name: str) -> str:
    """The name, or a name that no other long name gets."""
    if len(name.encode()) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    start = name.encode()[: LONGEST - 13].decode(errors="ignore")
    return f"{start}_{digest}"
