"""The prompt."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import has_completions, is_done
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.patch_stdout import patch_stdout

from tidemill import TidemillError, __version__
from tidemill.shell.backend import Backend, Named
from tidemill.shell.completion import SqlCompleter
from tidemill.shell.highlighting import STYLE, SqlLexer
from tidemill.shell.history import history_path, open_history
from tidemill.shell.keyboard import Keyboard
from tidemill.shell.printer import Printer
from tidemill.shell.session import Session
from tidemill.shell.splitting import is_complete

PROMPT = "tidemill> "
_FRESH = 2.0
"""Seconds for which names that were asked for are good enough to complete with."""


class Repl:
    """Asks for statements until the user leaves."""

    def __init__(
        self,
        backend: Backend,
        printer: Printer,
        history: Path | None = None,
        input: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._names = _Names(backend)
        self._prompt: PromptSession[str] = PromptSession(
            [("class:prompt", PROMPT)],
            multiline=True,
            prompt_continuation=_continuation,
            lexer=SqlLexer(),
            style=STYLE,
            completer=SqlCompleter(self._names),
            complete_while_typing=False,
            complete_in_thread=True,
            history=open_history(history or history_path()),
            key_bindings=_bindings(),
            input=input,
            # Where results go to a file, the prompt does not.
            output=output or create_output(always_prefer_tty=True),
        )
        self.session = Session(backend, printer, Keyboard(self._prompt.input))

    def run(self) -> None:
        """Greet, and answer until \\q or Ctrl-D."""
        backend, printer = self.session.backend, self.session.printer
        printer.note(f"Tidemill {__version__}, {backend.title}. \\? lists commands, \\q leaves.")
        while not self.session.ended:
            try:
                with patch_stdout(raw=True):  # the sink `console` prints above the prompt
                    text = self._prompt.prompt()
                self.session.run_typed(text)
            except KeyboardInterrupt:  # it may also come when a statement has just ended
                continue
            except EOFError:
                return
            self._names.forget()


class _Names:
    """The names that the backend knows, asked for when they are needed and not too often."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._known: Sequence[Named] = ()
        self._asked = float("-inf")

    def __call__(self) -> Sequence[Named]:
        if time.monotonic() - self._asked > _FRESH:
            self._asked = time.monotonic()
            try:
                self._known = self._backend.names()
            except TidemillError:
                self._known = ()  # completion is no place to report that a server is away
        return self._known

    def forget(self) -> None:
        """Ask again next time."""
        self._asked = float("-inf")


def _continuation(width: int, line: int, wrapped: int) -> StyleAndTextTuples:
    return [("class:continuation", ("" if wrapped else "...> ").rjust(width))]


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter", filter=~has_completions & ~is_done)
    def enter(event: KeyPressEvent) -> None:
        """Run what is complete; else go on in the next line."""
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @bindings.add("enter", filter=has_completions)
    def accept(event: KeyPressEvent) -> None:
        """Take the completion that is chosen; the statement goes on."""
        event.current_buffer.complete_state = None

    return bindings
