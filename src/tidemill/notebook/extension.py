"""`%load_ext tidemill`: cells of SQL, and errors without the frames of a traceback."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from tidemill.errors import TidemillError, masked
from tidemill.notebook.engines import engine_in

MAGIC = "tidemill"
_USAGE = "%%tidemill [--engine NAME] [--as NAME], and SQL below it"


class Shell(Protocol):
    """What is used of the shell of IPython, which need not be installed."""

    user_ns: dict[str, Any]
    magics_manager: Any

    def register_magic_function(
        self, func: Callable[[str, str], Any], magic_kind: str, magic_name: str
    ) -> None: ...

    def set_custom_exc(self, exc_tuple: tuple[type[Exception], ...], handler: Any) -> None: ...

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None: ...


def load(shell: Shell) -> None:
    """Add cells of SQL to a shell, and let it show errors of Tidemill by their message."""

    def run_cell(line: str, cell: str) -> Any:
        return _run(shell, line, cell)

    run_cell.__doc__ = f"Run SQL statements on an engine of the notebook: {_USAGE}."
    shell.register_magic_function(run_cell, "cell", MAGIC)
    shell.set_custom_exc((TidemillError,), show_briefly)


def unload(shell: Shell) -> None:
    """Take back what `load` has done."""
    shell.magics_manager.magics["cell"].pop(MAGIC, None)
    shell.set_custom_exc((), None)


@dataclass(frozen=True)
class CellOptions:
    """What stands after `%%tidemill`: which engine, and a name for the answer."""

    engine: str | None = None
    name: str | None = None


def options_of(line: str) -> CellOptions:
    """
    >>> options_of("--engine shop --as hot")
    CellOptions(engine='shop', name='hot')
    """
    words = _words(line)
    given: dict[str, str] = {}
    for option, value in zip(words[::2], [*words[1::2], None], strict=False):
        if option not in ("--engine", "--as") or value is None or not value.isidentifier():
            raise TidemillError(f"`%%tidemill {line.strip()}` is not understood", help=_USAGE)
        given[option] = value
    return CellOptions(given.get("--engine"), given.get("--as"))


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quotation mark that is not closed
        return line.split()


def _run(shell: Shell, line: str, cell: str) -> Any:
    """Run the statements of a cell; what the last one is answered with is shown below it."""
    options = options_of(line)
    answer = engine_in(shell.user_ns, options.engine).sql(cell.rstrip())
    if options.name is not None:
        shell.user_ns[options.name] = answer
    return answer


def show_briefly(
    shell: Shell,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
    tb_offset: int | None = None,
) -> list[str]:
    """Show what is wrong, where in the SQL, and what to do; frames of Python would bury that."""
    # `%tb` and `%debug` find them there, for whoever wants to see them.
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback
    lines = masked(str(error)).split("\n")
    shell._showtraceback(kind, error, lines)
    return lines
