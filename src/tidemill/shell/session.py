"""One conversation: statements and commands, and what they are answered with."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path

from rich.text import Text

from tidemill.engine import Report
from tidemill.errors import PlanWarning, TidemillError
from tidemill.shell.backend import Backend, ShellRows
from tidemill.shell.commands import Commands
from tidemill.shell.endless import refuse_endless
from tidemill.shell.printer import Printer
from tidemill.shell.saying import said
from tidemill.shell.splitting import Piece, pieces, typed_pieces
from tidemill.shell.watching import Keys
from tidemill.sql import QueryStatement, Telling, parse_one
from tidemill.terminal.tables import Format


class Session:
    """Runs what is typed against a backend; `keys` are those pressed while a table is watched."""

    def __init__(self, backend: Backend, printer: Printer, keys: Keys | None = None) -> None:
        self.backend = backend
        self.printer = printer
        self.timing = False
        self.ended = False
        self._commands = Commands(self, keys)

    def run(self, text: str) -> bool:
        """Run all statements and commands of a text, up to the first that fails; whether none did.

        Ctrl-C cancels the one that runs, and those after it.
        """
        return self._run_all(pieces(text))

    def run_typed(self, text: str) -> bool:
        """The same, for what was typed at the prompt."""
        return self._run_all(typed_pieces(text))

    def _run_all(self, found: Iterable[Piece]) -> bool:
        return all(self.ended or self._try(piece) for piece in found)

    def run_file(self, path: str) -> bool:
        """Run a script; if it fails, its name stands before the error."""
        try:
            text = Path(path).expanduser().read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = (getattr(error, "strerror", None) or "it is not UTF-8 text").lower()
            self.printer.message(TidemillError(f"cannot read {path}: {reason}"))
            return False
        if not self.run(text):
            self.printer.note(f"in {path}")
            return False
        return True

    def _try(self, piece: Piece) -> bool:
        began = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", PlanWarning)
                try:
                    done = self._run(piece)
                finally:
                    self._warn(caught)
        except TidemillError as error:
            self.printer.message(error)
            return False
        except KeyboardInterrupt:
            self.printer.note("cancelled")
            return False
        except BrokenPipeError:  # nobody reads the results any more
            raise
        except Exception as error:  # a mistake of ours must not cost the user the whole engine
            self.printer.note(traceback.format_exc().rstrip())
            self.printer.message(_unexpected(error))
            return False
        if self.timing:
            self.printer.note(f"{time.perf_counter() - began:.3f} s")
        return done

    def _warn(self, caught: list[warnings.WarningMessage]) -> None:
        found = [each.message for each in caught if isinstance(each.message, PlanWarning)]
        for warning in {str(each): each for each in found}.values():  # planned twice, said once
            self.printer.message(warning)

    def _run(self, piece: Piece) -> bool:
        if piece.is_command:
            return self._commands.run(piece.text.strip())
        statement = parse_one(piece.text)
        if isinstance(statement, QueryStatement):
            refuse_endless(statement, self.backend.names())
            more = " (\\format csv prints all)"
            self.printer.table(self.backend.select(piece.text), more=more)
        elif isinstance(statement, Telling):
            self._tell(self.backend.tell(piece.text))
        else:
            name = self.backend.execute(piece.text)
            self.printer.note(said(statement, name))
        return True

    def _tell(self, report: Report) -> None:
        if report.is_plan and self.printer.format is Format.TABLE:
            self.printer.plain(Text(str(report)))
        else:
            self.printer.table(ShellRows(report.table))


def _unexpected(error: Exception) -> TidemillError:
    help = "this should not happen: please report it with the lines above"
    return TidemillError(f"{type(error).__name__}: {error}", help=help)
