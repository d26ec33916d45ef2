"""`\\watch`: what a query says now, drawn in place."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from secrets import token_hex
from typing import Any, Protocol

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from tidemill.errors import ExecutionError, PlanWarning, TidemillError
from tidemill.shell.backend import Backend, Named, ShellSnapshot, find
from tidemill.shell.printer import SCREENFUL, Printer
from tidemill.shell.splitting import name_in
from tidemill.terminal.instants import instant_text
from tidemill.terminal.tables import rich_table
from tidemill.timeline import TimeDomain

_PAUSE = 0.25
_AROUND = 6
"""Lines of the terminal that the rows leave free: header, rule, notes, the prompt before."""

_ALL = 1_000_000
_PREFIX = "CREATE QUERY {} AS\n"


class Keys(Protocol):
    """The keyboard, while a table is watched."""

    def pressed(self) -> AbstractContextManager[Callable[[float], bool]]:
        """Gives a function that waits for some seconds, and says whether to end."""
        ...


def watch(backend: Backend, printer: Printer, what: str, keys: Keys | None) -> None:
    """Show a query, or a SELECT that runs meanwhile, until q or Ctrl-C.

    Where nobody presses keys, it is shown once, when everything was read that is there.
    """
    with _query(backend, what) as name:
        if keys is None or not printer.is_live:
            backend.settle()
            _print_once(backend, printer, name)
            return
        with (
            keys.pressed() as ends,
            Live(console=printer.out, auto_refresh=False, transient=False) as live,
        ):
            live.update(_drawn(backend, name, printer.out.height), refresh=True)
            while not ends(_PAUSE):
                live.update(_drawn(backend, name, printer.out.height), refresh=True)


@contextmanager
def _query(backend: Backend, what: str) -> Iterator[str]:
    """The name of what is watched; a SELECT is a query for that time."""
    if (known := name_in(what)) is not None:
        yield _name_of_query(backend, known)
        return
    name = f"watched_{token_hex(3)}"  # others may watch the same server
    _create(backend, name, what)
    try:
        backend.execute(f"START QUERY {name} PARTIAL")
        yield name
    finally:
        backend.execute(f"DROP QUERY {name}")


def _name_of_query(backend: Backend, name: str) -> str:
    named = find(backend.names(), name)
    if not named.is_query:
        help = f"\\watch SELECT ... FROM {named.name} shows what is in it"
        raise TidemillError(f"`{named.name}` is a {named.kind}, not a query", help=help)
    return named.name


def _create(backend: Backend, name: str, select: str) -> None:
    """Give a SELECT a name; errors and warnings have their place in what the user wrote."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PlanWarning)
        try:
            backend.execute(_PREFIX.format(name) + select)
        except TidemillError as error:
            raise type(error)(**_moved(error, select)) from None
    for each in caught:
        if isinstance(each.message, PlanWarning):
            warnings.warn(PlanWarning(**_moved(each.message, select)), stacklevel=2)


def _moved(message: TidemillError | PlanWarning, select: str) -> dict[str, Any]:
    fields = message.fields()
    if message.line is not None:
        fields |= {"line": message.line - 1, "sql": select}
    return fields


def _print_once(backend: Backend, printer: Printer, name: str) -> None:
    limit = SCREENFUL if printer.format == "table" else _ALL
    named = _running(backend, name)
    snapshot = backend.snapshot(name, limit)
    printer.table(snapshot)
    printer.note(_when(snapshot, named))


def _running(backend: Backend, name: str) -> Named:
    named = backend.query(name)
    if named.error:
        raise ExecutionError(f"the query `{name}` failed: {named.error}")
    if named.state != "running":
        raise TidemillError(f"the query `{name}` is {named.state}", help=f"START QUERY {name};")
    return named


def _drawn(backend: Backend, name: str, height: int) -> RenderableType:
    """The rows that there is room for, and the instant for which they are true."""
    named = _running(backend, name)
    snapshot = backend.snapshot(name, max(height - _AROUND, 1))
    table = rich_table(snapshot.table) if snapshot.table.num_rows else Text("no rows")
    more = [Text("… and more rows", style="dim")] if snapshot.truncated else []
    footer = f"{_when(snapshot, named)} (q or Ctrl-C ends)"
    return Group(table, *more, Text(footer, style="dim"))


def _when(snapshot: ShellSnapshot, named: Named) -> str:
    """For which instant a snapshot is true."""
    if snapshot.at is None:
        return "no rows yet"
    if snapshot.ended:
        last = instant_text(snapshot.at, named.domain)
        return f"as of {last}, the last change: its streams have ended"
    if named.domain is TimeDomain.MICROSECONDS:
        text = f"as of just before {instant_text(snapshot.at + 1, named.domain)}"
    else:
        text = f"as of {instant_text(snapshot.at, named.domain)}"
    if snapshot.at < named.complete_from:
        text += ", with the rows since the query was started"
    return text
