"""The options of sources and sinks: a server, a table, and little else."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.connectors.postgres.connect import CONNECTION_OPTIONS
from tidemill.connectors.postgres.names import TableName
from tidemill.errors import ExecutionError, nearest
from tidemill.sql import OptionValue


def checked(options: Mapping[str, OptionValue], own: tuple[str, ...], whose: str) -> TableName:
    """Refuse options that mean nothing; the table that the others name."""
    known = (*CONNECTION_OPTIONS, "table", *own)
    for name in options:
        if name not in known:
            near = nearest(name, known)
            guess = f"did you mean `{near}`? " if near else ""
            help = f"{guess}options: {', '.join(known)}"
            raise ExecutionError(f"{whose} has no option `{name}`", help=help)
    if not options.get("table"):
        help = "as in postgres(url => 'postgresql://user@host/database', table => 'app.orders')"
        raise ExecutionError(f"{whose} needs the option table", help=help)
    return TableName.parse(str(options["table"]))
