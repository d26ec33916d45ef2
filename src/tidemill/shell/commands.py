"""What begins with a backslash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
from rich.text import Text

from tidemill.errors import TidemillError, nearest
from tidemill.explain import Level
from tidemill.shell.backend import Named, ShellRows, find
from tidemill.shell.reading import rows_to_push
from tidemill.shell.watching import Keys, watch
from tidemill.terminal.instants import instant_text
from tidemill.terminal.plans import drawn
from tidemill.terminal.tables import Format
from tidemill.timeline import OPEN_END, TimeDomain

if TYPE_CHECKING:
    from tidemill.shell.session import Session


@dataclass(frozen=True)
class Command:
    """A command: how it is written, what it does, and the method that does it."""

    name: str
    arguments: str
    summary: str
    method: str


COMMANDS = (
    Command("d", "[NAME]", "list all names, or describe one", "describe"),
    Command("explain", "[LEVEL] SELECT ...|NAME", "the plan of a query", "explain"),
    Command("watch", "NAME|SELECT ...", "the current rows of a query, updated", "watch"),
    Command("push", "STREAM FILE|JSON", "push rows: a file (.csv, .json) or JSON", "push"),
    Command("tick", "", "run a tick now", "tick"),
    Command("i", "FILE", "run a script", "include"),
    Command("format", "[table|csv|json]", "how results are printed", "format"),
    Command("timing", "", "switch timing on or off", "timing"),
    Command("help", "", "show this list; also help", "help"),
    Command("q", "", "leave; also exit and Ctrl-D", "quit"),
)
_COLUMNS = pa.schema({"column": pa.string(), "type": pa.string()})
_OTHER_NAMES = {"?": "help", "quit": "q", "exit": "q", "h": "help"}


class Commands:
    """Runs the commands of a session."""

    def __init__(self, session: Session, keys: Keys | None) -> None:
        self._session = session
        self._keys = keys

    def run(self, text: str) -> bool:
        """Run a command; whether it succeeded."""
        word, *rest = text.removeprefix("\\").split(None, 1)
        arguments = (rest[0] if rest else "").strip().rstrip(";").rstrip()
        word = word.rstrip(";") if text.startswith("\\") else word.rstrip(";").lower()
        name = _OTHER_NAMES.get(word, word)
        known = {command.name: command for command in COMMANDS}
        if name not in known:
            near = nearest(name, known)
            guess = f"did you mean \\{near}? " if near else ""
            raise TidemillError(f"there is no command \\{word}", help=f"{guess}\\? lists them all")
        method: Callable[[str], bool | None] = getattr(self, f"_{known[name].method}")
        return method(arguments) is not False

    def _describe(self, name: str) -> None:
        names = self._session.backend.names()
        if name:
            self._detail(find(names, name))
        elif not names:
            self._session.printer.note("there are no names yet: CREATE STREAM ... makes a stream")
        else:
            self._session.printer.table(ShellRows(_listing(names)))
            for each in names:
                if each.error:
                    self._session.printer.note(f"{each.name}: {each.error}")

    def _detail(self, named: Named) -> None:
        printer = self._session.printer
        rows = [{"column": column.name, "type": column.type} for column in named.columns]
        printer.table(ShellRows(pa.Table.from_pylist(rows, _COLUMNS)))
        printer.facts(
            ("kind", named.kind + (", rows are pushed" if named.pushed else "")),
            ("time", _time(named)),
            ("state", named.state),
            ("error", named.error),
            ("complete from", _complete_from(named)),
            ("reads", ", ".join(named.reads)),
            ("read by", ", ".join(named.used_by)),
            ("defined as", " ".join(named.sql.split())),
        )

    def _explain(self, arguments: str) -> None:
        first, *rest = arguments.split(None, 1) or [""]
        named = first.lower() in set(Level)
        level = Level(first.lower()) if named else Level.LOGICAL
        query = "".join(rest) if named else arguments
        if not query:
            levels = ", ".join(Level)
            raise TidemillError("which query?", help=f"\\explain SELECT ... (levels: {levels})")
        found, printer = self._session.backend.explain(query, level), self._session.printer
        printer.plain(Text(found.level, style="dim"))
        printer.plain(drawn(found))

    def _watch(self, arguments: str) -> None:
        if not arguments:
            raise TidemillError("watch what?", help="\\watch NAME, or \\watch SELECT ...")
        watch(self._session.backend, self._session.printer, arguments, self._keys)

    def _push(self, arguments: str) -> None:
        stream, *rows = arguments.split(None, 1) or [""]
        if not rows:
            help = '\\push bid bids.csv, or \\push bid {"item": "lamp", "minute": 1}'
            raise TidemillError("push what?", help=help)
        backend = self._session.backend
        named = find(backend.names(), stream)
        if not named.pushed:
            help = "a stream that is created without a SOURCE takes rows"
            raise TidemillError(
                f"rows cannot be pushed into the {named.kind} `{named.name}`", help=help
            )
        count = backend.push(named.name, rows_to_push(rows[0]))
        self._session.printer.note(f"{count:,} {'row' if count == 1 else 'rows'} pushed")

    def _tick(self, _: str) -> None:
        self._session.printer.note(f"tick {self._session.backend.tick():,}")

    def _include(self, path: str) -> bool:
        if not path:
            raise TidemillError("which file?", help="\\i FILE.sql")
        return self._session.run_file(path)

    def _format(self, name: str) -> None:
        printer = self._session.printer
        if name and name.lower() not in set(Format):
            help = f"formats: {', '.join(Format)}"
            raise TidemillError(f"there is no format `{name}`", help=help)
        if name:
            printer.format = Format(name.lower())
        printer.note(f"results are printed as {printer.format}")

    def _timing(self, _: str) -> None:
        self._session.timing = not self._session.timing
        self._session.printer.note(f"timing is {'on' if self._session.timing else 'off'}")

    def _help(self, _: str) -> None:
        lines = Text("Statements end with a semicolon. Commands:\n")
        for command in COMMANDS:
            written = f"\\{command.name} {command.arguments}".rstrip()
            lines.append_text(Text.assemble(("  " + written.ljust(36), "cyan"), command.summary))
            lines.append("\n")
        lines.rstrip()
        self._session.printer.plain(lines)

    def _quit(self, _: str) -> None:
        self._session.ended = True


def _listing(names: Sequence[Named]) -> pa.Table:
    rows = [
        {
            "name": each.name,
            "kind": each.kind,
            "state": each.state,
            "reads": ", ".join(each.reads),
            "read by": ", ".join(each.used_by),
        }
        for each in names
    ]
    return pa.Table.from_pylist(rows)


def _time(named: Named) -> str:
    if named.time is None:
        return ""
    in_micros = named.domain is TimeDomain.MICROSECONDS
    slack = timedelta(microseconds=named.slack) if in_micros else f"{named.slack:,}"
    return named.time + (f", slack {slack}" if named.slack else "")


def _complete_from(named: Named) -> str:
    if not named.complete_from:
        return ""
    never = named.complete_from == OPEN_END
    return "never" if never else instant_text(named.complete_from, named.domain)
