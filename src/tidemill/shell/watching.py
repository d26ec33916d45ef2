"""`\\watch`: what a query says now, drawn in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from tidemill.errors import TidemillError
from tidemill.shell.backend import Backend, Named, Snapshot
from tidemill.shell.instants import instant_text
from tidemill.shell.printer import SCREENFUL, Printer
from tidemill.shell.splitting import name_in
from tidemill.terminal.tables import rich_table
from tidemill.timeline import TimeDomain

_PAUSE = 0.25
_AROUND = 6
"""Lines of the terminal that the rows leave free: header, rule, notes, the prompt before."""

_PREFIX = "CREATE QUERY {} AS\n"


class Keys(Protocol):
    """The keyboard, while a table is watched."""

    def pressed(self) -> AbstractContextManager[Callable[[float], bool]]:
        """Gives a function that waits so many seconds, and says whether to end."""
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
            view = _View(backend, name)
            live.update(view.now(printer.out.height), refresh=True)
            while not ends(_PAUSE):
                live.update(view.now(printer.out.height), refresh=True)


@contextmanager
def _query(backend: Backend, what: str) -> Iterator[str]:
    """The name of what is watched; a SELECT is a query for that time."""
    if (known := name_in(what)) is not None:
        yield known
        return
    name = _free_name(backend)
    try:
        backend.execute(_PREFIX.format(name) + what)
    except TidemillError as error:
        raise _without_prefix(error, what) from None
    try:
        backend.execute(f"START QUERY {name} PARTIAL")
        yield name
    finally:
        backend.execute(f"DROP QUERY {name}")


def _free_name(backend: Backend) -> str:
    taken = {named.name for named in backend.names()}
    return next(name for n in range(1, len(taken) + 2) if (name := f"watched{n}") not in taken)


def _without_prefix(error: TidemillError, what: str) -> TidemillError:
    """The same error, at its place in what the user wrote."""
    fields = error.fields()
    if error.line is not None:
        fields |= {"line": error.line - 1, "sql": what}
    return type(error)(fields.pop("message"), **fields)


def _print_once(backend: Backend, printer: Printer, name: str) -> None:
    limit = SCREENFUL if printer.format == "table" else 2**31
    named, snapshot = _named(backend, name), backend.snapshot(name, limit)
    printer.table(snapshot.rows, snapshot.total)
    printer.note(_when(snapshot, named))


def _named(backend: Backend, name: str) -> Named:
    return next(each for each in backend.names() if each.name.casefold() == name.casefold())


class _View:
    """What is drawn for a query."""

    def __init__(self, backend: Backend, name: str) -> None:
        self._backend = backend
        self._name = name
        self._named: Named | None = None

    def now(self, height: int) -> RenderableType:
        """The rows that there is room for, and the instant for which they are true."""
        snapshot = self._backend.snapshot(self._name, max(height - _AROUND, 1))
        named = _named(self._backend, self._name)
        table = rich_table(snapshot.rows) if snapshot.total else Text("no rows")
        left_out = snapshot.total - snapshot.rows.num_rows
        more = [Text(f"… and {left_out:,} more rows", style="dim")] if left_out else []
        footer = f"{_when(snapshot, named)} (q or Ctrl-C ends)"
        return Group(table, *more, Text(footer, style="dim"))


def _when(snapshot: Snapshot, named: Named) -> str:
    """For which instant a snapshot is true."""
    until = snapshot.complete_until
    if snapshot.ended:
        return "its streams have ended: these rows hold for ever"
    if until is None:
        return "nothing has come yet"
    if named.domain is TimeDomain.MICROSECONDS:
        text = f"true just before {instant_text(until, named.domain)}"
    else:
        text = f"true at {instant_text(until - 1, named.domain)}"
    if until <= named.complete_from:
        text += f"; of all rows from {instant_text(named.complete_from, named.domain)} on"
    return text
